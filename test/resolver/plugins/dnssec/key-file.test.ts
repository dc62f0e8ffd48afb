import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { decodeBase64 } from '../../../../src/dns/bytes/base64url.ts'
import { concatBytes } from '../../../../src/dns/bytes/bytes.ts'
import { ROOT } from '../../../../src/dns/names/name.ts'
import { canonicalRecords, writeSignatureTerms } from '../../../../src/dns/wire/signed-data.ts'
import { type DnssecKey, readKey } from '../../../../src/resolver/plugins/dnssec/key-file.ts'
import { openSigner } from '../../../../src/server/keys/open-signer.ts'
import { formatRecord } from '../../../../src/snapshot/records/zone-text.ts'
import { parseRecord } from '../../../parse-record.ts'
import { EXAMPLE_KEYS, newKeyFiles } from '../../../zone-keys.ts'

type Files = Readonly<Record<string, string>>

function read(base: string, files: Files): DnssecKey {
  return readKey(base, { readText: (path) => files[path], openSigner })
}

/** The files of the first example, changed. */
function changed(half: 'key' | 'private', from: string | RegExp, to: string): Files {
  const name = `p256.${half}`
  const text = EXAMPLE_KEYS[name] ?? ''
  assert.notEqual(text.replace(from, to), text, 'something changes')
  return { ...EXAMPLE_KEYS, [name]: text.replace(from, to) }
}

describe('readKey', () => {
  const examples: { base: string; algorithm: number; tag: number; owner: string }[] = [
    { base: 'p256', algorithm: 13, tag: 55648, owner: 'example.net. 3600' },
    { base: 'p384', algorithm: 14, tag: 10771, owner: 'example.net. 3600' },
    { base: 'ed25519', algorithm: 15, tag: 3613, owner: 'example.com. 60' },
  ]
  for (const { base, owner, ...is } of examples) {
    test(`reads the example with tag ${is.tag}`, () => {
      const { algorithm, tag, record, use } = read(base, EXAMPLE_KEYS)
      assert.deepEqual({ algorithm, tag }, is)
      assert.ok(formatRecord(record).startsWith(`${owner} IN DNSKEY 257 3 ${algorithm} `))
      assert.equal(use, 'keys')
    })
  }

  test('signs as the example of RFC 8080 §6.1 does, byte for byte', () => {
    const { sign, tag } = read('ed25519', EXAMPLE_KEYS)
    const mx = parseRecord('example.com. 3600 IN MX 10 mail.example.com.', ROOT)
    assert.ok(mx)
    const { owner: signer } = mx
    const times = { expiration: 1440021600, inception: 1438207200 }
    const terms = { typeCovered: 15, algorithm: 15, labels: 2, originalTtlSeconds: 3600 }
    const head = writeSignatureTerms({ ...terms, ...times, keyTag: tag, signer })
    assert.deepEqual(
      sign(concatBytes(head, canonicalRecords([mx], 3600))),
      decodeBase64(
        'oL9krJun7xfBOIWcGHi7mag5/hdZrKWw15jPGrHpjQeRAvTdszaPD+QLs3fx8A4M3e23mRZ9VrbpMngwcrqNAg==',
      ),
    )
  })

  for (const algorithm of [5, 7, 8, 10, 13, 14, 15]) {
    test(`reads a new key for algorithm ${algorithm}`, () => {
      const files = newKeyFiles('K', 'example.org.', { algorithm, flags: 256 })
      const key = read('K', files)
      assert.deepEqual([key.algorithm, key.use], [algorithm, 'zone'])
      assert.ok(key.sign(new Uint8Array(9)).length >= 64)
    })
  }

  const uses: { flags: number; use: DnssecKey['use'] }[] = [
    { flags: 257, use: 'keys' },
    { flags: 256, use: 'zone' },
    { flags: 385, use: 'keys' },
    { flags: 0, use: undefined },
    { flags: 1, use: undefined },
  ]
  for (const { flags, use } of uses) {
    test(`a key with flags ${flags} signs ${use ?? 'as others do'}`, () => {
      assert.equal(read('K', newKeyFiles('K', 'test.', { flags })).use, use)
    })
  }

  test('takes a number without the zeros that it begins with', () => {
    const files = newKeyFiles('K', 'test.')
    const text = files['K.private'] ?? ''
    const short = text.replace(/PrivateKey: .*/, 'PrivateKey: AQ==')
    // The number 1 is a key, but none to this public half.
    assert.throws(() => read('K', { ...files, 'K.private': short }), /do not belong together|key/)
  })

  const wrong: { name: string; base?: string; files: Files; message: string }[] = [
    { name: 'there is no public half', base: 'x', files: {}, message: 'cannot read "x.key"' },
    {
      name: 'there is no private half',
      files: { 'p256.key': EXAMPLE_KEYS['p256.key'] ?? '' },
      message: 'cannot read "p256.private"',
    },
    {
      name: 'the public half is another record',
      files: { ...EXAMPLE_KEYS, 'p256.key': 'example.net. A 192.0.2.1' },
      message: '"p256.key" does not begin with a DNSKEY record',
    },
    {
      name: 'the public half is no record',
      files: { ...EXAMPLE_KEYS, 'p256.key': 'nonsense' },
      message: '"p256.key" does not begin with a DNSKEY record',
    },
    {
      name: 'the format is another',
      files: changed('private', 'v1.2', 'v2.0'),
      message: '"p256.private" lacks "Private-key-format: v1.3"',
    },
    {
      name: 'the algorithms differ',
      files: changed('private', 'Algorithm: 13', 'Algorithm: 14'),
      message: '"p256.private" is for another algorithm than "p256.key"',
    },
    {
      name: 'the algorithm is not known',
      files: {
        'p256.key': (EXAMPLE_KEYS['p256.key'] ?? '').replace(' 3 13 ', ' 3 16 '),
        'p256.private': (EXAMPLE_KEYS['p256.private'] ?? '').replace('13', '16'),
      },
      message:
        '"p256.private" is not a key for algorithm 16; RSA, ECDSAP256SHA256, ECDSAP384SHA384 and ' +
        'ED25519 are',
    },
    {
      name: 'the number is missing',
      files: changed('private', 'PrivateKey', 'PublicKey'),
      message:
        '"p256.private" is not a key for algorithm 13; RSA, ECDSAP256SHA256, ECDSAP384SHA384 and ' +
        'ED25519 are',
    },
    {
      name: 'the number is a comment',
      files: changed('private', 'PrivateKey', ';PrivateKey'),
      message:
        '"p256.private" is not a key for algorithm 13; RSA, ECDSAP256SHA256, ECDSAP384SHA384 and ' +
        'ED25519 are',
    },
  ]
  for (const { name, base = 'p256', files, message } of wrong) {
    test(`refuses a key when ${name}`, () => {
      assert.throws(() => read(base, files), { name: 'KeyFileError', message })
    })
  }

  test('refuses halves that do not belong together', () => {
    for (const algorithm of [8, 13, 14, 15]) {
      const files = {
        ...newKeyFiles('K', 'test.', { algorithm }),
        'K.key': newKeyFiles('K', 'test.', { algorithm })['K.key'] ?? '',
      }
      assert.throws(() => read('K', files), /^KeyFileError: "K\.private" does not match "K\.key": /)
    }
  })
})
