import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { concatBytes, writeUint16 } from '../../../../src/dns/bytes/bytes.ts'
import { parseResponse } from '../../../../src/dns/wire/message.ts'
import { unreadableReason } from '../../../../src/resolver/plugins/forward/unreadable.ts'
import { parseQuestion, writeReplyText } from '../../../message-text.ts'

const LINES = ['NOERROR', 'a.test. 60 IN A 192.0.2.1', 'a.test. 60 IN A 192.0.2.2']
/** The question takes bytes 12 to 23, each record 16 bytes from 24 on. */
const WHOLE = writeReplyText(LINES, parseQuestion('a.test A').message)

/** Returns the response with a change. */
function changed(change: (reply: Uint8Array) => void): Uint8Array {
  const reply = WHOLE.slice()
  change(reply)
  return reply
}

const CASES: readonly { readonly reply: Uint8Array; readonly why: string }[] = [
  { reply: WHOLE.subarray(0, 11), why: 'is shorter than a header' },
  { reply: changed((reply) => writeUint16(reply, 4, 2)), why: 'has 2 questions' },
  { reply: WHOLE.subarray(0, 20), why: 'ends within the question' },
  { reply: WHOLE.subarray(0, 24), why: 'ends after 0 of 2 records' },
  { reply: WHOLE.subarray(0, 40), why: 'ends after 1 of 2 records' },
  { reply: changed((reply) => writeUint16(reply, 10, 1)), why: 'ends after 2 of 3 records' },
  { reply: WHOLE.subarray(0, 41), why: 'ends within record 2 of 2' },
  { reply: WHOLE.subarray(0, 49), why: 'ends within record 2 of 2' },
  { reply: WHOLE.subarray(0, 53), why: 'ends within record 2 of 2' },
  {
    reply: changed((reply) => writeUint16(reply, 50, 400)),
    why: 'ends within record 2 of 2',
  },
  {
    reply: changed((reply) => writeUint16(reply, 24, 0xc030)),
    why: 'has an invalid name in record 1 of 2',
  },
  {
    reply: changed((reply) => reply.fill(0x7f, 24, 25)),
    why: 'has an invalid name in record 1 of 2',
  },
  {
    reply: concatBytes(
      changed((reply) => writeUint16(reply, 34, 3)),
      Uint8Array.of(0),
    ),
    why: 'has invalid data in record 1 of 2',
  },
]

describe('unreadableReason', () => {
  for (const { reply, why } of CASES) {
    test(`of ${reply.length} bytes: ${why}`, () => {
      assert.equal(parseResponse(reply), undefined)
      assert.equal(unreadableReason(reply), why)
    })
  }

  test('never throws, whatever is unreadable', () => {
    const change = fc.tuple(fc.nat(WHOLE.length - 1), fc.nat(255))
    fc.assert(
      fc.property(fc.array(change), fc.nat(WHOLE.length), (changes, size) => {
        const reply = WHOLE.slice(0, size)
        for (const [at, value] of changes) if (at < size) reply[at] = value
        assert.notEqual(unreadableReason(reply), '')
      }),
    )
  })
})
