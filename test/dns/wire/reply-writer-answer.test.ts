import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { asWordBytes, formatHex } from '../../../src/dns/bytes/bytes.ts'
import { CLASS } from '../../../src/dns/names/rr-class.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { parseResponse } from '../../../src/dns/wire/message.ts'
import { FLAG } from '../../../src/dns/wire/query.ts'
import { QUESTION_OFFSET, ReplyWriter, SECTION } from '../../../src/dns/wire/reply-writer.ts'
import { hex, queryOf } from './messages.ts'

describe('ReplyWriter.writeAnswer', () => {
  /** 192.0.2.1 and 2001:db8::1 behind it, as little-endian words. */
  const words = asWordBytes(hex('c0000201 20010db8 00000000 00000000 00000001')).words

  /** The reply that `write` makes within a size, which is cut off there. */
  function replyOf(bytesMax: number, write: (writer: ReplyWriter) => void): string {
    const writer = new ReplyWriter()
    writer.begin(queryOf('www.example.org A +edns'), { bytesMax })
    write(writer)
    return formatHex(writer.bytes.subarray(0, writer.finish(0, FLAG.AA)))
  }

  /** The same record in steps. */
  function writeInSteps(writer: ReplyWriter, type: number, start: number, count: number): void {
    if (writer.isFull) return
    writer.pointOwner(QUESTION_OFFSET)
    writer.beginRecord(type, CLASS.IN, 70_000)
    writer.writeWords(words, start, count)
    writer.endRecord(SECTION.ANSWER)
  }

  for (const bytesMax of [512, 44 + 16 + 28, 44 + 16 + 27, 44 + 16, 44 + 15, 44]) {
    test(`writes the same as the steps of a record, within ${bytesMax} bytes`, () => {
      const written = replyOf(bytesMax, (writer) => {
        writer.writeAnswer(TYPE.A, 70_000, words, 0, 1)
        writer.writeAnswer(TYPE.AAAA, 70_000, words, 1, 4)
      })
      const inSteps = replyOf(bytesMax, (writer) => {
        writeInSteps(writer, TYPE.A, 0, 1)
        writeInSteps(writer, TYPE.AAAA, 1, 4)
      })
      assert.equal(written, inSteps)
    })
  }

  test('bounds TTLs like the steps, and tracks whether all were the same', () => {
    const seen = [5, 30, 30].map((ttl) => {
      const writer = new ReplyWriter()
      writer.begin(queryOf('www.example.org A'), { bytesMax: 512 })
      writer.boundTtl(10, 20)
      writer.writeAnswer(TYPE.A, 30, words, 0, 1)
      writer.writeAnswer(TYPE.A, ttl, words, 0, 1)
      const response = parseResponse(writer.bytes.subarray(0, writer.finish(0, 0)))
      return [...(response?.answer.map(({ ttlSeconds }) => ttlSeconds) ?? []), writer.hasOneTtl]
    })
    assert.deepEqual(seen, [
      [20, 10, false],
      [20, 20, true],
      [20, 20, true],
    ])
  })
})
