import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ERROR_CODE, FLAG } from '../../src/http2/frame.ts'
import { HeaderBlocks } from '../../src/http2/header-blocks.ts'
import { latin1 } from './peer.ts'

const END = FLAG.END_HEADERS
const part = (...octets: readonly number[]): { bytes: Uint8Array; start: number; end: number } => ({
  bytes: Uint8Array.of(0, ...octets, 0),
  start: 1,
  end: octets.length + 1,
})

describe('HeaderBlocks', () => {
  test('reads a block of one frame', () => {
    const block = new HeaderBlocks(latin1).begin(1, END, part(0x82))
    assert.ok(typeof block === 'object')
    assert.equal(block.list.fields[0]?.value, 'GET')
  })

  test('puts a block together', () => {
    const blocks = new HeaderBlocks(latin1)
    assert.equal(blocks.begin(5, FLAG.END_STREAM, part(0)), undefined)
    assert.equal(blocks.isOpen, true)
    assert.deepEqual([blocks.continues(5), blocks.continues(7)], [true, false])
    assert.equal(blocks.continue(0, part(1, 0x61)), undefined)
    const block = blocks.continue(END, part(1, 0x62))
    assert.ok(typeof block === 'object')
    assert.deepEqual([block.streamId, block.flags], [5, FLAG.END_STREAM])
    const [field] = block.list.fields
    assert.deepEqual([field?.name, field?.value], ['a', 'b'])
    assert.deepEqual([blocks.isOpen, blocks.continues(5)], [false, false])
  })

  test('says that a block is broken', () => {
    assert.equal(new HeaderBlocks(latin1).begin(1, END, part(0x80)), ERROR_CODE.COMPRESSION_ERROR)
  })

  test('takes no more CONTINUATION frames than sixteen, empty ones among them', () => {
    const blocks = new HeaderBlocks(latin1)
    blocks.begin(1, 0, part(0x82))
    const results = Array.from({ length: 17 }, () => blocks.continue(0, part()))
    assert.equal(results.indexOf(ERROR_CODE.ENHANCE_YOUR_CALM), 16)
  })

  test('holds no more bytes than a block may have', () => {
    const blocks = new HeaderBlocks(latin1)
    const full = part(...new Uint8Array(16_384).fill(0x82))
    const results = [blocks.begin(1, 0, full), ...[1, 2, 3, 4].map(() => blocks.continue(0, full))]
    const last = ERROR_CODE.ENHANCE_YOUR_CALM
    assert.deepEqual(results, [undefined, undefined, undefined, undefined, last])
  })
})
