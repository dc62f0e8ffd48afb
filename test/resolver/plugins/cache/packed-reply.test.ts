import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'vitest'
import { EMPTY_REPLY, type Reply, type ResourceRecord } from '../../../../src/dns/wire/message.ts'
import { packReply, unpackReply } from '../../../../src/resolver/plugins/cache/packed-reply.ts'

const OWNERS = ['\u0003www\u0007example\u0000', '\u0000', `${'\u003f'.padEnd(64, 'x')}\u0000`]

const records: fc.Arbitrary<ResourceRecord[]> = fc.array(
  fc.record(
    {
      owner: fc
        .constantFrom(...OWNERS)
        .map((owner) => new Uint8Array(Buffer.from(owner, 'latin1'))),
      type: fc.integer({ min: 0, max: 0xffff }),
      class: fc.integer({ min: 0, max: 0xffff }),
      ttlSeconds: fc.constant(7),
      rdata: fc.uint8Array({ maxLength: 300 }),
    },
    { noNullPrototype: true },
  ),
  { maxLength: 8 },
)

const replies: fc.Arbitrary<Reply> = fc
  .record({
    rcode: fc.integer({ min: 0, max: 23 }),
    recursionAvailable: fc.boolean(),
    authenticData: fc.boolean(),
    answer: records,
    authority: records,
    additional: records,
  })
  .map((fields) => ({ ...EMPTY_REPLY, ...fields, authoritative: true }))

test('a packed reply is read as it was, with one TTL', () => {
  fc.assert(
    fc.property(replies, (reply) => {
      assert.deepEqual(unpackReply(packReply(reply), 7), reply)
    }),
  )
})

test('a packed reply keeps the owner once for records that follow one another', () => {
  const [owner = new Uint8Array()] = OWNERS.map((one) => new Uint8Array(Buffer.from(one)))
  const rdata = new Uint8Array(4)
  const answer = Array.from({ length: 12 }, () => ({
    ...{ owner: owner.slice(), type: 1, class: 1, ttlSeconds: 60, rdata },
  }))
  const { records: bytes } = packReply({ ...EMPTY_REPLY, answer })
  assert.equal(bytes.length, 12 + owner.length + 12 * (7 + rdata.length))
})

test('a packed reply has no EDNS options, no TC and AA', () => {
  const options = [{ code: 15, data: new Uint8Array(2) }]
  const packed = packReply({ ...EMPTY_REPLY, options, origin: 'upstream', recursionDesired: true })
  assert.deepEqual(unpackReply(packed, 1), { ...EMPTY_REPLY, authoritative: true })
})
