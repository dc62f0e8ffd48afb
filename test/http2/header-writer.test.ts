import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { HeaderDecoder } from '../../src/http2/header-decoder.ts'
import {
  dateField,
  NO_DYNAMIC_TABLE,
  responseBlock,
  writeHeaderBlock,
} from '../../src/http2/header-writer.ts'
import { latin1 } from './peer.ts'

function decode(...parts: readonly Uint8Array[]): string[] | undefined {
  const octets = Buffer.concat(parts)
  const list = new HeaderDecoder(latin1).decode(octets, 0, octets.length)
  return list?.fields.map(({ name, value }) => `${name}: ${value}`)
}

describe('header blocks of responses', () => {
  test('take what the static table has from there', () => {
    const block = writeHeaderBlock(200, [['accept-encoding', 'gzip, deflate']])
    assert.deepEqual([...block], [0x88, 0x90])
    const other = writeHeaderBlock(302, [['location', 'a']])
    // As RFC 7541 §6.2.2 has it, and nothing for a dynamic table.
    assert.deepEqual([...other], [0x08, 3, 0x33, 0x30, 0x32, 0x0f, 0x1f, 1, 0x61])
  })

  test('say what they were given', () => {
    const name = fc.stringMatching(/^[a-z-]{1,200}$/)
    const value = fc.stringMatching(/^[!-~\xa1-\xff]{0,300}$/)
    fc.assert(
      fc.property(
        fc.array(fc.tuple(name, value)),
        fc.integer({ min: 200, max: 599 }),
        (all, status) => {
          const wanted = [`:status: ${status}`, ...all.map(([key, text]) => `${key}: ${text}`)]
          assert.deepEqual(decode(NO_DYNAMIC_TABLE, writeHeaderBlock(status, all)), wanted)
        },
      ),
    )
  })

  test('are made once for the same object, and again for another status', () => {
    const fields = { vary: 'Accept' }
    const block = responseBlock(200, fields)
    assert.equal(responseBlock(200, fields), block)
    assert.deepEqual(decode(responseBlock(404, fields)), [':status: 404', 'vary: Accept'])
    assert.deepEqual(decode(responseBlock(200, fields)), [':status: 200', 'vary: Accept'])
  })

  test('tell the date, by the second', () => {
    const nowMs = Date.UTC(1994, 10, 6, 8, 49, 37, 999)
    assert.deepEqual(decode(dateField(nowMs)), ['date: Sun, 06 Nov 1994 08:49:37 GMT'])
    assert.equal(dateField(nowMs - 500), dateField(nowMs))
    assert.deepEqual(decode(dateField(nowMs + 1)), ['date: Sun, 06 Nov 1994 08:49:38 GMT'])
  })
})
