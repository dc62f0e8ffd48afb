import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { EMPTY } from '../../../src/dns/bytes/bytes.ts'
import {
  formatShardList,
  parseShardList,
  SHARD_ENTRY_BYTES,
  type ShardEntry,
  ShardList,
} from '../../../src/snapshot/format/shard-list.ts'

const [A, B] = [entry('0123456789abcdef', 136), entry('fedcba9876543210', 0xffffffff)]

function entry(sixteen: string, bytes: number): ShardEntry {
  return { sha256: sixteen.repeat(4), bytes }
}

function listOf(...shards: readonly ShardEntry[]): ShardList {
  const list = parseShardList(formatShardList(shards))
  assert.ok(list)
  return list
}

describe('ShardList', () => {
  test('returns the entries that were written, one by one and all at once', () => {
    const shard = fc
      .tuple(fc.stringMatching(/^[0-9a-f]{64}$/), fc.integer({ min: 0, max: 0xffffffff }))
      .map(([sha256, bytes]) => ({ sha256, bytes }))
    fc.assert(
      fc.property(fc.array(shard, { maxLength: 40 }), (shards) => {
        const list = listOf(...shards)
        assert.equal(list.length, shards.length)
        assert.deepEqual(list.entries(), shards)
        const hashes = shards.map((_, i) => list.sha256(i))
        assert.deepEqual(
          hashes,
          shards.map(({ sha256 }) => sha256),
        )
      }),
    )
  })

  test('has no hash where it has no shard', () => {
    assert.equal(listOf(A).sha256(1), '')
    assert.equal(new ShardList(EMPTY).sha256(0), '')
  })

  test('compares hashes in the same place of as many, not sizes', () => {
    const [one, other] = [listOf(A, B), listOf({ ...A, bytes: 1 }, A)]
    assert.deepEqual(
      [one.isSame(0, other), one.isSame(1, other), one.isSame(0, listOf(A))],
      [true, false, false],
    )
    for (let at = 0; at < 64; at++) {
      const digits = A.sha256.slice(0, at) + (A.sha256[at] === '0' ? '1' : '0')
      const near = { ...A, sha256: digits + A.sha256.slice(at + 1) }
      assert.equal(listOf(A).isSame(0, listOf(near)), false, near.sha256)
    }
  })

  test('equals a list with the same shards, and no longer or shorter one', () => {
    assert.ok(listOf(A, B).equals(listOf(A, B)))
    assert.ok(new ShardList(EMPTY).equals(listOf()))
    for (const other of [listOf(A), listOf(A, B, A), listOf(B, A), listOf()]) {
      assert.ok(!listOf(A, B).equals(other))
    }
  })
})

describe('parseShardList', () => {
  test('refuses text that is not complete entries in base64url', () => {
    for (let size = 1; size < SHARD_ENTRY_BYTES; size++) {
      const text = Buffer.alloc(SHARD_ENTRY_BYTES + size).toString('base64url')
      assert.equal(parseShardList(text), undefined, text)
    }
    assert.equal(parseShardList('='.repeat(48)), undefined)
  })
})
