import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { parseResponse } from '../../../src/dns/wire/message.ts'
import { ageMessage, askDoh } from '../../../src/gateway/doh/doh-client.ts'
import { hex, messageOf, queryOf, replyBytes } from '../../dns/wire/messages.ts'
import { question, replyOf } from './replies.ts'

const WIRE = 'application/dns-message'
const URL_TEXT = 'https://gateway.example.org/dns-query'
const { signal } = new AbortController()
const QUERY = question('a.example.org', { id: 0x1234 })
const REPLY = replyOf(question('a.example.org'), {
  answer: ['a.example.org. 600 A 192.0.2.1', 'a.example.org. 100 A 192.0.2.2'],
})

/** Asks a server that sends this. */
function askWith(
  body: Uint8Array | ReadableStream<Uint8Array> | null,
  headers: Readonly<Record<string, string>> = {},
  status = 200,
): Promise<Uint8Array> {
  const init = { status, headers: { 'content-type': WIRE, ...headers } }
  const bytes = body instanceof Uint8Array ? new Uint8Array(body) : body
  const fetch = async (): Promise<Response> => new Response(bytes, init)
  return askDoh(URL_TEXT, QUERY, { fetch, signal })
}

const ttls = (reply: Uint8Array): readonly number[] | undefined =>
  parseResponse(reply)?.answer.map(({ ttlSeconds }) => ttlSeconds)

describe('askDoh', () => {
  test('posts the query with ID 0, follows no redirect, and passes the signal on', async () => {
    const asked: { url: string; init: RequestInit }[] = []
    const fetch = async (url: string, init: RequestInit): Promise<Response> => {
      asked.push({ url, init })
      return new Response(new Uint8Array(REPLY), { headers: { 'content-type': WIRE } })
    }
    await askDoh(URL_TEXT, QUERY, { fetch, signal })
    assert.deepEqual(asked, [
      {
        url: URL_TEXT,
        init: {
          method: 'POST',
          headers: { 'content-type': WIRE, accept: WIRE },
          body: question('a.example.org', { id: 0 }),
          redirect: 'manual',
          signal,
        },
      },
    ])
  })

  test('leaves the query as it was, and gives its ID to the answer', async () => {
    const before = QUERY.slice()
    const reply = await askWith(REPLY)
    assert.deepEqual(QUERY, before)
    assert.deepEqual(reply.subarray(0, 2), Uint8Array.of(0x12, 0x34))
    assert.deepEqual(reply.subarray(2), REPLY.subarray(2))
  })

  const ages: { age: string; ttls: readonly number[] }[] = [
    { age: '0', ttls: [600, 100] },
    { age: '1', ttls: [599, 99] },
    { age: '250', ttls: [350, 0] },
    { age: '250.9', ttls: [600, 100] },
    { age: '99999999999', ttls: [0, 0] },
    { age: '-5', ttls: [600, 100] },
    { age: 'old', ttls: [600, 100] },
    { age: '', ttls: [600, 100] },
  ]
  for (const { age, ttls: left } of ages) {
    test(`takes Age "${age}" off the TTLs`, async () => {
      assert.deepEqual(ttls(await askWith(REPLY, { age })), left)
    })
  }

  test('takes nothing off without Age', async () => {
    assert.deepEqual(ttls(await askWith(REPLY)), [600, 100])
  })

  test('reads a media type in any letters and without its parameters', async () => {
    const reply = await askWith(REPLY, { 'content-type': 'Application/DNS-Message; x=y' })
    assert.equal(reply.length, REPLY.length)
  })

  const bad: {
    name: string
    body: Uint8Array | null
    headers?: Readonly<Record<string, string>>
    status?: number
    says: string
  }[] = [
    { name: 'another status', body: REPLY, status: 404, says: 'HTTP status 404' },
    { name: 'another status of success', body: REPLY, status: 203, says: 'HTTP status 203' },
    {
      name: 'a redirect',
      body: null,
      headers: { location: 'https://other.example.org/' },
      status: 307,
      says: 'HTTP status 307',
    },
    {
      name: 'another media type',
      body: REPLY,
      headers: { 'content-type': 'text/html' },
      says: `content type "text/html", expected ${WIRE}`,
    },
    { name: 'no body', body: null, says: '0 bytes are no message' },
    { name: 'less than a header', body: new Uint8Array(11), says: '11 bytes are no message' },
    {
      name: 'more than a message',
      body: new Uint8Array(65_536),
      says: 'over 65535 bytes are no message',
    },
  ]
  for (const { name, body, headers, status, says } of bad) {
    test(`takes ${name} for no answer`, async () => {
      await assert.rejects(askWith(body, headers, status), { message: says })
    })
  }

  test('stops reading an endless body', async () => {
    const cancelled = Promise.withResolvers<void>()
    let pulls = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulls++
        controller.enqueue(new Uint8Array(16_384))
      },
      cancel() {
        cancelled.resolve()
      },
    })
    await assert.rejects(askWith(body), { message: 'over 65535 bytes are no message' })
    await cancelled.promise
    assert.ok(pulls < 10, `${pulls} chunks were read`)
  })

  test('takes any bytes, whatever their age', async () => {
    const bodies = fc.uint8Array({ minLength: 12, maxLength: 200 })
    const property = fc.asyncProperty(bodies, fc.nat(), async (body, age) => {
      const reply = await askWith(body, { age: String(age) })
      assert.equal(reply.length, body.length)
      assert.deepEqual(reply.subarray(0, 2), QUERY.subarray(0, 2))
    })
    await fc.assert(property)
  })
})

/** The TTLs of a reply that is `seconds` old, section by section. */
function agedTtls(bytes: Uint8Array, seconds: number): number[] {
  const copy = bytes.slice()
  ageMessage(copy, seconds)
  const reply = parseResponse(copy)
  assert.ok(reply)
  return [...reply.answer, ...reply.authority, ...reply.additional].map((rr) => rr.ttlSeconds)
}

const query = queryOf('www.example.org A', { udpBytes: 1232 })
const reply = replyBytes(query, {
  answer: ['www.example.org 600 CNAME web.example.org', 'web.example.org 30 A 192.0.2.1'],
  authority: ['example.org 3600 NS ns.example.org'],
  additional: ['ns.example.org 2147483647 A 192.0.2.53'],
})

describe('ageMessage', () => {
  const cases: { name: string; seconds: number; ttls: number[] }[] = [
    { name: 'takes the age off every TTL', seconds: 20, ttls: [580, 10, 3580, 2147483627] },
    { name: 'goes down to zero only', seconds: 700, ttls: [0, 0, 2900, 2147482947] },
    { name: 'goes down to zero everywhere', seconds: 2147483647, ttls: [0, 0, 0, 0] },
    { name: 'takes one second off', seconds: 1, ttls: [599, 29, 3599, 2147483646] },
    { name: 'does nothing at age zero', seconds: 0, ttls: [600, 30, 3600, 2147483647] },
    { name: 'never adds', seconds: -10, ttls: [600, 30, 3600, 2147483647] },
  ]
  for (const { name, seconds, ttls } of cases) {
    test(name, () => {
      assert.deepEqual(agedTtls(reply, seconds), ttls)
    })
  }

  test('changes only TTLs, not the flags in an OPT record', () => {
    const bytes = replyBytes(queryOf('www.example.org A', { udpBytes: 1232, wantsDnssec: true }), {
      rcode: 16,
    })
    const before = bytes.slice()
    ageMessage(bytes, 100)
    assert.deepEqual(bytes, before)
  })

  test('takes TTLs as unsigned', () => {
    const body = '00 0001 0001 ffffffff 0004 c0000201'
    const bytes = messageOf({ flags: 0x8000, counts: [0, 1, 0, 0], body })
    ageMessage(bytes, 15)
    assert.deepEqual(bytes.subarray(17, 21), hex('fffffff0'))
  })

  test('ages a last record without rdata, and nothing after it', () => {
    const record = '00 ff00 0001 00000064 0000'
    const body = `${record} ${record} ${record} ${record}`
    const bytes = messageOf({ flags: 0x8000, counts: [0, 1, 1, 1], body })
    const whole = messageOf({ flags: 0x8000, counts: [0, 0, 0, 1], body: record })
    ageMessage(bytes, 1)
    ageMessage(whole, 1)
    const aged = record.replace('64', '63')
    assert.deepEqual(bytes.subarray(12), hex(`${aged} ${aged} ${aged} ${record}`))
    assert.deepEqual(whole.subarray(12), hex(aged))
  })

  test('leaves a record alone that ends with its TTL', () => {
    const bytes = messageOf({
      flags: 0x8000,
      counts: [0, 1, 0, 0],
      body: '00 0001 0001 00000064 00',
    })
    const before = bytes.slice()
    ageMessage(bytes, 1)
    assert.deepEqual(bytes, before)
  })

  test('accepts no question and two questions', () => {
    const record = 'c000 0001 0001 0000012c 0004 c0000201'
    const none = messageOf({ flags: 0x8000, counts: [0, 1, 0, 0], body: record })
    const two = messageOf({
      flags: 0x8000,
      counts: [2, 1, 0, 0],
      body: `0000010001 0161000001 0001 ${record}`,
    })
    ageMessage(none, 100)
    ageMessage(two, 100)
    assert.deepEqual(none.subarray(18, 22), hex('000000c8'))
    assert.deepEqual(two.subarray(30, 34), hex('000000c8'))
  })

  test('leaves a message alone that breaks before its first record', () => {
    for (const size of [0, 5, 11, 12, 15, 30]) {
      const bytes = reply.slice(0, size)
      ageMessage(bytes, 100)
      assert.deepEqual(bytes, reply.subarray(0, size))
    }
  })

  test('never throws and leaves the header alone, whatever the bytes', () => {
    const counts = fc.tuple(fc.nat(3), fc.nat(65535), fc.nat(65535), fc.nat(65535))
    fc.assert(
      fc.property(counts, fc.uint8Array({ maxLength: 200 }), fc.nat(100000), (some, body, age) => {
        const bytes = messageOf({ flags: 0x8000, counts: some, body })
        const before = bytes.slice()
        ageMessage(bytes, age)
        assert.deepEqual(bytes.subarray(0, 12), before.subarray(0, 12))
      }),
    )
  })
})
