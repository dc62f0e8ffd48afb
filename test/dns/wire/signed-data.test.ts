import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { byteAt, formatHex } from '../../../src/dns/bytes/bytes.ts'
import { nameOf, ROOT } from '../../../src/dns/names/name.ts'
import type { ResourceRecord } from '../../../src/dns/wire/message.ts'
import {
  canonicalRecords,
  keyTag,
  signedLabels,
  writeSignatureTerms,
} from '../../../src/dns/wire/signed-data.ts'
import { parseRecord } from '../../parse-record.ts'
import { EXAMPLE_KEYS } from '../../zone-keys.ts'

function record(text: string): ResourceRecord {
  const parsed = parseRecord(text, ROOT)
  assert.ok(parsed, text)
  return parsed
}

function canonical(first: string, ...others: string[]): string {
  return formatHex(canonicalRecords([record(first), ...others.map(record)], 3600))
}

describe('canonicalRecords', () => {
  test('has owner, type, class, original TTL, size and data', () => {
    assert.equal(
      canonical('a.test. 60 IN A 192.0.2.1'),
      '0161047465737400' + '0001' + '0001' + '00000e10' + '0004' + 'c0000201',
    )
  })

  const same: { name: string; a: [string, ...string[]]; b: [string, ...string[]] }[] = [
    { name: 'TTLs do not matter', a: ['a. 1 A 192.0.2.1'], b: ['a. 2 A 192.0.2.1'] },
    { name: 'nor does letter case', a: ['A.TEST. A 192.0.2.1'], b: ['a.test. A 192.0.2.1'] },
    {
      name: 'nor does order',
      a: ['a. A 192.0.2.2', 'a. A 192.0.2.1'],
      b: ['a. A 192.0.2.1', 'a. A 192.0.2.2'],
    },
    {
      name: 'nor how often a record is said',
      a: ['a. A 192.0.2.1', 'a. A 192.0.2.2', 'a. A 192.0.2.1'],
      b: ['a. A 192.0.2.1', 'a. A 192.0.2.2'],
    },
    ...['NS X.', 'SOA X. Y. 1 2 3 4 5', 'MX 1 X.', 'SRV 1 2 3 X.', 'DNAME X.', 'RP X. Y.'].map(
      (rdata) => ({
        name: `letter case of names does not matter in ${rdata}`,
        a: [`a. ${rdata}`] satisfies [string],
        b: [`a. ${rdata.replace('X', 'x').replace('Y', 'y')}`] satisfies [string],
      }),
    ),
    {
      name: 'names in NAPTR records are lower case, and strings are not touched',
      a: ['a. NAPTR 1 1 "U" "S" "R" X.'],
      b: ['a. NAPTR 1 1 "U" "S" "R" x.'],
    },
  ]
  for (const { name, a, b } of same) {
    test(name, () => {
      assert.equal(canonical(...a), canonical(...b))
    })
  }

  const different: { name: string; a: string; b: string }[] = [
    { name: 'strings keep their letters', a: 'a. TXT "X"', b: 'a. TXT "x"' },
    { name: 'NSEC records keep those of the next name', a: 'a. NSEC X. A', b: 'a. NSEC x. A' },
    { name: 'HTTPS records keep those of the target', a: 'a. HTTPS 1 X.', b: 'a. HTTPS 1 x.' },
  ]
  for (const { name, a, b } of different) {
    test(name, () => {
      assert.notEqual(canonical(a), canonical(b))
    })
  }

  test('sorts by data as bytes, the shorter first', () => {
    const texts = ['a. TXT "b"', 'a. TXT "a" "a"', 'a. TXT "a"'] as const
    const sizes: number[] = []
    const bytes = canonicalRecords([record(texts[0]), record(texts[1]), record(texts[2])], 0)
    for (let at = 0; at < bytes.length; at += 13 + byteAt(bytes, at + 12)) {
      sizes.push(byteAt(bytes, at + 12))
    }
    assert.deepEqual(sizes, [2, 4, 2])
  })
})

describe('signedLabels', () => {
  const cases: { name: string; count: number }[] = [
    { name: '.', count: 0 },
    { name: 'www.example.org', count: 3 },
    { name: '*.example.org', count: 2 },
    { name: '*a.example.org', count: 3 },
    { name: 'a.*.example.org', count: 4 },
  ]
  for (const { name, count } of cases) {
    test(`counts ${count} in ${name}`, () => {
      assert.equal(signedLabels(nameOf(name)), count)
    })
  }
})

test('writeSignatureTerms has the fields in their order, the signer in lower case', () => {
  const terms = {
    typeCovered: 1,
    algorithm: 13,
    labels: 3,
    originalTtlSeconds: 3600,
    expiration: 0x01020304,
    inception: 0x05060708,
    keyTag: 55648,
    signer: nameOf('Example.ORG'),
  }
  assert.equal(
    formatHex(writeSignatureTerms(terms)),
    '00010d0300000e100102030405060708d960076578616d706c65036f726700',
  )
})

describe('keyTag', () => {
  const cases: { key: keyof typeof EXAMPLE_KEYS; tag: number; where: string }[] = [
    { key: 'p256.key', tag: 55648, where: 'RFC 6605 §6.1' },
    { key: 'p384.key', tag: 10771, where: 'RFC 6605 §6.2' },
    { key: 'ed25519.key', tag: 3613, where: 'RFC 8080 §6.1' },
  ]
  for (const { key, tag, where } of cases) {
    test(`is ${tag} in ${where}`, () => {
      const text = (EXAMPLE_KEYS[key] ?? '').replace(/^;.*\n/, '')
      assert.equal(keyTag(record(text).rdata), tag)
    })
  }
})
