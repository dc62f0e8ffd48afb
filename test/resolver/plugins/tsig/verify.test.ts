import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { concatBytes } from '../../../../src/dns/bytes/bytes.ts'
import { nameKey, nameOf } from '../../../../src/dns/names/name.ts'
import { parseQuery, type Query } from '../../../../src/dns/wire/query.ts'
import { findTsig } from '../../../../src/dns/wire/tsig.ts'
import { writeQuery } from '../../../../src/dns/wire/write-query.ts'
import { type Verdict, verify } from '../../../../src/resolver/plugins/tsig/verify.ts'
import { hmac } from '../../../../src/server/keys/hmac.ts'
import { describeSignature, type Signing, signMessage } from '../../../signed-messages.ts'

const NOW = 1_800_000_000
const SIGNING: Signing = {
  key: 'a.key',
  secret: 'NoTCJU+DMqFWywaPyxSijrDEA/eC3nK0xi3AMEZuPVk=',
  timeSeconds: NOW,
}
const SECRETS = new Map([[nameKey(nameOf('a.key')), Buffer.from(SIGNING.secret, 'base64')]])
const VERIFIER = {
  secretOf: (key: string): Uint8Array | undefined => SECRETS.get(key),
  hmac,
  nowSeconds: (): number => NOW,
}
const MESSAGE = writeQuery({ name: nameOf('www.test'), type: 1, id: 0x1234, udpBytes: 1232 })
const REPLY = concatBytes(Uint8Array.of(0x12, 0x34, 0x80), new Uint8Array(9))

function queryOf(message: Uint8Array): Query {
  const query = parseQuery(message)
  assert.ok(query.kind === 'query')
  return query
}

function judge(message: Uint8Array): Verdict {
  const query = queryOf(message)
  const found = findTsig(query)
  assert.ok(typeof found === 'object')
  return verify(query, found, VERIFIER)
}

type Case = {
  readonly name: string
  readonly signing?: Partial<Signing>
  readonly error?: number
  readonly says: string
}

describe('verify', () => {
  const cases: Case[] = [
    ...['sha1', 'sha224', 'sha256', 'sha384', 'sha512'].map((digest) => ({
      name: `takes what is signed by ${digest}`,
      signing: { algorithm: `hmac-${digest}` },
      says: `a.key. hmac-${digest}. NOERROR fudge 300 other 0 time ${NOW} good`,
    })),
    {
      name: 'takes names in any letter case',
      signing: { key: 'A.Key', algorithm: 'HMAC-Sha256' },
      says: `A.Key. HMAC-Sha256. NOERROR fudge 300 other 0 time ${NOW} good`,
    },
    {
      name: 'takes a TTL that is not 0',
      signing: { ttlSeconds: 9 },
      says: `a.key. hmac-sha256. NOERROR fudge 300 other 0 time ${NOW} good`,
    },
    {
      name: 'takes a clock that is as late as it says',
      signing: { timeSeconds: NOW - 20, fudgeSeconds: 20 },
      says: `a.key. hmac-sha256. NOERROR fudge 300 other 0 time ${NOW} good`,
    },
    {
      name: 'reports a clock that is later what time it is',
      signing: { timeSeconds: NOW - 21, fudgeSeconds: 20 },
      error: 18,
      says: `a.key. hmac-sha256. BADTIME fudge 300 other 6 time ${NOW - 21} good`,
    },
    {
      name: 'reports a clock that is early, too',
      signing: { timeSeconds: NOW + 301 },
      error: 18,
      says: `a.key. hmac-sha256. BADTIME fudge 300 other 6 time ${NOW + 301} good`,
    },
    {
      name: 'knows no key of another name',
      signing: { key: 'b.key' },
      error: 17,
      says: 'b.key. hmac-sha256. BADKEY fudge 300 other 0 time 0 empty',
    },
    {
      name: 'does not believe another secret',
      signing: { secret: 'AAAA' },
      error: 16,
      says: 'a.key. hmac-sha256. BADVERS fudge 300 other 0 time 0 empty',
    },
    {
      name: 'does not believe an algorithm that it does not know',
      signing: { algorithm: 'hmac-md5.sig-alg.reg.int' },
      error: 16,
      says: 'a.key. hmac-md5.sig-alg.reg.int. BADVERS fudge 300 other 0 time 0 empty',
    },
    ...[0, 16, 31].map((macBytes) => ({
      name: `does not believe ${macBytes} bytes of a signature`,
      signing: { macBytes },
      error: 16,
      says: 'a.key. hmac-sha256. BADVERS fudge 300 other 0 time 0 empty',
    })),
  ]
  for (const { name, signing = {}, error = 0, says } of cases) {
    test(name, () => {
      const how = { ...SIGNING, ...signing }
      const { message, mac } = signMessage(MESSAGE, how)
      const { signer, ...verdict } = judge(message)
      assert.equal(verdict.error, error)
      const sealed = signer.sign(REPLY)
      assert.equal(sealed.length, REPLY.length + signer.bytes)
      assert.equal(describeSignature(sealed, { ...how, mac }).text, says)
    })
  }

  test('does not believe a message that was changed', () => {
    const { message } = signMessage(MESSAGE, SIGNING)
    const classAt = MESSAGE.length + nameOf('a.key').length + 2
    for (let at = 2; at < message.length; at++) {
      // The class of the record is taken for ANY whatever it is, as in CoreDNS.
      if (at === classAt || at === classAt + 1) continue
      const changed = message.map((octet, i) => (i === at ? octet ^ 0x20 : octet))
      const query = parseQuery(changed)
      const found = query.kind === 'query' ? findTsig(query) : undefined
      if (query.kind !== 'query' || typeof found !== 'object') continue
      const { error } = verify(query, found, VERIFIER)
      // Names are the same in either letter case; nothing else is.
      const isLetter = /[a-z]/i.test(String.fromCharCode(message[at] ?? 0))
      assert.ok(error !== 0 || (isLetter && at > MESSAGE.length), `byte ${at}`)
    }
  })

  test('takes a message whose ID was changed on the way', () => {
    const { message } = signMessage(MESSAGE, SIGNING)
    message[0] = 0x55
    assert.equal(judge(message).error, 0)
  })

  test('signs the messages of one reply each with what the one before was signed with', () => {
    const { message, mac } = signMessage(MESSAGE, SIGNING)
    const { signer } = judge(message)
    let before = mac
    for (let i = 0; i < 4; i++) {
      const part = REPLY.with(3, i)
      const said = describeSignature(signer.sign(part), { ...SIGNING, mac: before }, i === 0)
      assert.match(said.text, / good$/)
      before = said.mac
    }
  })
})
