import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { ageMessage } from '../../src/dns/age.ts'
import { parseResponse } from '../../src/dns/message.ts'
import { hex, messageOf, queryOf, replyBytes } from './messages.ts'

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
