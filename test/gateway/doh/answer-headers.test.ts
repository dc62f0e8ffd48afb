import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  answerHeaders,
  cacheControl,
  freshSeconds,
} from '../../../src/gateway/doh/answer-headers.ts'
import { parseQuestion, writeReplyText } from '../../message-text.ts'
import { question, type ReplyText, replyOf } from './replies.ts'

test('an answer is kept as long as it holds, by whom it is for, and a POST by nobody', () => {
  const reply = writeReplyText(
    ['NOERROR', 'a.test. 30 IN A 192.0.2.1'],
    parseQuestion('a.test A').message,
  )
  assert.equal(cacheControl(reply, { isPrivate: false, isPost: false }), 'max-age=30, no-transform')
  assert.equal(
    cacheControl(reply, { isPrivate: true, isPost: false }),
    'private, max-age=30, no-transform',
  )
  assert.equal(cacheControl(reply, { isPrivate: true, isPost: true }), 'no-store, no-transform')
  const failure = writeReplyText(['SERVFAIL'], parseQuestion('a.test A').message)
  assert.equal(cacheControl(failure, { isPrivate: false, isPost: false }), 'no-store, no-transform')
})

test('an answer says what it is and how long', () => {
  const headers = answerHeaders('application/dns-message', 12, 'no-store')
  assert.equal(headers['content-length'], '12')
  assert.equal(headers['content-type'], 'application/dns-message')
  assert.equal(headers.vary, 'Accept')
  assert.equal(headers['x-content-type-options'], 'nosniff')
})

test('the same headers are one object, and others are not', () => {
  const more = { age: '1' }
  const first = answerHeaders('a/b', 12, 'no-store', more)
  assert.equal(answerHeaders('a/b', 12, 'no-store', more), first)
  for (const [type, size, control, on] of [
    ['a/c', 12, 'no-store', more],
    ['a/b', 13, 'no-store', more],
    ['a/b', 12, 'max-age=1', more],
    ['a/b', 12, 'no-store', { age: '2' }],
  ] as const) {
    const { age, ...headers } = answerHeaders(type, size, control, on)
    assert.deepEqual(
      [headers['content-type'], headers['content-length'], headers['cache-control'], age],
      [type, String(size), control, on.age],
    )
  }
})

test('of many headers, the last can be read again', () => {
  const more = {}
  const sizes = Array.from({ length: 2500 }, (_, i) => i)
  for (const size of sizes) answerHeaders('a/b', size, 'no-store', more)
  const last = answerHeaders('a/b', 2499, 'no-store', more)
  assert.equal(answerHeaders('a/b', 2499, 'no-store', more), last)
  assert.equal(answerHeaders('a/b', 0, 'no-store', more)['content-length'], '0')
})

const soa = (ttl: number, minimum: number): string =>
  `example.org. ${ttl} SOA ns.example.org. admin.example.org. 1 7200 1800 86400 ${minimum}`
const A_300 = 'a.example.org. 300 A 192.0.2.1'

describe('freshSeconds', () => {
  const cases: { name: string; reply: ReplyText; seconds: number }[] = [
    { name: 'takes the TTL of an answer', reply: { answer: [A_300] }, seconds: 300 },
    {
      name: 'takes the smallest TTL',
      reply: {
        answer: [30, 600, 300].map((ttl, i) => `a.example.org. ${ttl} A 192.0.2.${i}`),
      },
      seconds: 30,
    },
    { name: 'takes TTL 0', reply: { answer: ['a.example.org. 0 A 192.0.2.1'] }, seconds: 0 },
    {
      name: 'takes the greatest TTL for what it is',
      reply: { answer: ['a.example.org. 2147483647 A 192.0.2.1'] },
      seconds: 2_147_483_647,
    },
    { name: 'takes the minimum of an SOA', reply: { authority: [soa(60, 30)] }, seconds: 30 },
    { name: 'takes the TTL of an SOA', reply: { authority: [soa(20, 30)] }, seconds: 20 },
    {
      name: 'takes as much for a missing name',
      reply: { rcode: 3, authority: [soa(60, 30)] },
      seconds: 30,
    },
    {
      name: 'lets the end of a CNAME that points nowhere decide',
      reply: {
        rcode: 3,
        answer: ['a.example.org. 300 CNAME b.example.org.'],
        authority: [soa(60, 10)],
      },
      seconds: 10,
    },
    {
      name: 'lets the CNAME decide where it is shorter',
      reply: {
        answer: ['a.example.org. 5 CNAME b.example.org.'],
        authority: [soa(60, 10)],
      },
      seconds: 5,
    },
    {
      name: 'looks at no minimum of an SOA that is the answer',
      reply: { answer: [soa(60, 10)] },
      seconds: 60,
    },
    {
      name: 'looks at no other record of the authority section',
      reply: { answer: [A_300], authority: ['example.org. 10 NS ns.example.org.'] },
      seconds: 300,
    },
    {
      name: 'looks at no additional record',
      reply: { answer: [A_300], additional: ['ns.example.org. 10 A 192.0.2.9', soa(1, 1)] },
      seconds: 300,
    },
    { name: 'knows nothing without records', reply: {}, seconds: 0 },
    {
      name: 'has no freshness for a negative response without an SOA record',
      reply: { rcode: 3 },
      seconds: 0,
    },
    {
      name: 'keeps nothing of a referral',
      reply: { authority: ['example.org. 10 NS ns.example.org.'] },
      seconds: 0,
    },
    {
      name: 'keeps nothing that is cut off',
      reply: { truncated: true, answer: [A_300] },
      seconds: 0,
    },
    ...[1, 2, 4, 5].map((rcode) => ({
      name: `keeps nothing of response code ${rcode}`,
      reply: { rcode, answer: [A_300] },
      seconds: 0,
    })),
    { name: 'keeps nothing of BADVERS', reply: { rcode: 16 }, seconds: 0 },
  ]
  for (const { name, reply, seconds } of cases) {
    test(name, () => {
      assert.equal(freshSeconds(replyOf(question('a.example.org'), reply)), seconds)
      const withEdns = question('a.example.org', { udpBytes: 1232 })
      assert.equal(freshSeconds(replyOf(withEdns, reply)), seconds)
    })
  }

  test('reads a header without a question', () => {
    assert.equal(freshSeconds(Uint8Array.of(0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0)), 0)
  })

  test('is the smallest of any number of TTLs', () => {
    const ttls = fc.array(fc.integer({ min: 0, max: 0x7fffffff }), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(ttls, (all) => {
        const answer = all.map((ttl, i) => `n${i}.example.org. ${ttl} TXT "x"`)
        assert.equal(freshSeconds(replyOf(question('a.example.org'), { answer })), Math.min(...all))
      }),
    )
  })
})
