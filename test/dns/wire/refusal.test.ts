import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { concatBytes, formatHex } from '../../../src/dns/bytes/bytes.ts'
import { RCODE } from '../../../src/dns/names/rcode.ts'
import { extendedError } from '../../../src/dns/wire/edns.ts'
import { parseResponse } from '../../../src/dns/wire/message.ts'
import { rcodeReply, refusalReply } from '../../../src/dns/wire/refusal.ts'
import { hex, messageOf, queryOf, refused } from './messages.ts'
import { decodeMessage } from './oracle.ts'
import { BROKEN_EDNS, BROKEN_QUESTIONS, BROKEN_RECORDS } from './query-refusals.ts'

const question = '0161074578616d706c65036f726700 0001 0001'

/** What a message is answered, as hexadecimal digits. */
function replyTo(bytes: Uint8Array): string | undefined {
  const { query, refusal } = refused(bytes)
  const reply = refusalReply(query, refusal)
  return reply && formatHex(reply)
}

describe('refusalReply', () => {
  const cases: { name: string; bytes: Uint8Array; reply: string | undefined }[] = [
    {
      name: 'gives a response no answer',
      bytes: messageOf({ flags: 0x8000, body: question }),
      reply: undefined,
    },
    { name: 'gives half a header no answer', bytes: hex('123401000001'), reply: undefined },
    {
      name: 'gives an unknown operation a header with its operation, RD and CD only',
      bytes: messageOf({ flags: 0x2fff, body: question }),
      reply: '1234 a914 0000 0000 0000 0000',
    },
    {
      name: 'gives no OPT record to an unknown operation',
      bytes: messageOf({
        flags: 0x2800,
        counts: [1, 0, 0, 1],
        body: `${question} 00 0029 04d0 00000000 0000`,
      }),
      reply: '1234 a804 0000 0000 0000 0000',
    },
    {
      name: 'gives a question that does not parse a header only',
      bytes: messageOf({ body: 'c00c' }),
      reply: '1234 8101 0000 0000 0000 0000',
    },
    {
      name: 'gives a question that parses back as it was spelled',
      bytes: messageOf({ flags: 0x0130, counts: [1, 1, 0, 0], body: `${question} 00` }),
      reply: `1234 8111 0001 0000 0000 0000 ${question}`,
    },
    {
      name: 'gives an OPT record that does not parse none',
      bytes: messageOf({
        counts: [1, 0, 0, 1],
        body: `${question} 00 0029 1000 00008000 0001 00`,
      }),
      reply: `1234 8101 0001 0000 0000 0000 ${question}`,
    },
    {
      name: 'gives a question without its class a header only',
      bytes: messageOf({ body: '0161 00 0001' }),
      reply: '1234 8105 0000 0000 0000 0000',
    },
    {
      name: 'gives an unknown EDNS version BADVERS, of our version',
      bytes: messageOf({ counts: [1, 0, 0, 1], body: `${question} 00 0029 1000 00017fff 0000` }),
      reply: `1234 8100 0001 0000 0000 0001 ${question} 00 0029 04d0 01000000 0000`,
    },
    {
      name: 'gives an unknown EDNS version no DO, which that version may not have',
      bytes: messageOf({ counts: [1, 0, 0, 1], body: `${question} 00 0029 1000 00018000 0000` }),
      reply: `1234 8100 0001 0000 0000 0001 ${question} 00 0029 04d0 01000000 0000`,
    },
  ]
  for (const { name, bytes, reply } of cases) {
    test(name, () => {
      assert.equal(replyTo(bytes), reply?.replaceAll(' ', ''))
    })
  }

  test('never copies other flags of the query', () => {
    for (const { name, bytes, rcode, hasEdns } of [
      ...BROKEN_QUESTIONS,
      ...BROKEN_RECORDS,
      ...BROKEN_EDNS,
    ]) {
      const { query, refusal } = refused(bytes)
      const reply = refusalReply(query, refusal)
      assert.equal(reply === undefined, rcode === undefined, name)
      if (reply === undefined) continue
      const parsed = parseResponse(reply)
      assert.equal(parsed?.rcode, rcode, name)
      assert.equal(parsed?.id, 0x1234, name)
      const decoded = decodeMessage(reply)
      const { flag_aa, flag_tc, flag_ra, flag_ad, flag_z } = decoded
      assert.deepEqual([flag_aa, flag_tc, flag_ra, flag_ad, flag_z], Array(5).fill(false), name)
      assert.equal(decoded.answers?.length, 0, name)
      assert.equal(decoded.authorities?.length, 0, name)
      assert.equal(decoded.additionals?.[0]?.type, hasEdns ? 'OPT' : undefined, name)
    }
  })
})

describe('rcodeReply', () => {
  test('has the code, the question, and no authority', () => {
    const decoded = decodeMessage(
      rcodeReply(queryOf('a.Example.org AAAA', { id: 9 }), RCODE.REFUSED),
    )
    assert.deepEqual(
      [decoded.id, decoded.rcode, decoded.flag_qr, decoded.flag_rd, decoded.flag_aa],
      [9, 'REFUSED', true, true, false],
    )
    assert.deepEqual(decoded.questions, [{ name: 'a.Example.org', type: 'AAAA', class: 'IN' }])
    assert.equal(decoded.additionals?.length, 0)
  })

  test('sends options only to clients with EDNS', () => {
    const option = extendedError(20)
    const plain = rcodeReply(queryOf('example.org A'), RCODE.REFUSED, [option])
    const edns = rcodeReply(queryOf('example.org A', { udpBytes: 512 }), RCODE.REFUSED, [option])
    assert.deepEqual(parseResponse(plain)?.options, [])
    assert.deepEqual(parseResponse(edns)?.options, [option])
  })

  test('carries a code over 15 in both of its places', () => {
    const reply = rcodeReply(queryOf('. A', { udpBytes: 512 }), RCODE.BADCOOKIE)
    assert.equal(parseResponse(reply)?.rcode, 23)
    assert.equal((reply[3] ?? 0) & 15, 7)
    assert.deepEqual(reply.subarray(-11), concatBytes(hex('00 0029 04d0 01'), new Uint8Array(5)))
  })
})
