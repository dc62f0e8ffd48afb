import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { SHARDS_MAX } from '../../../src/snapshot/format/manifest.ts'
import { shardCountFor } from '../../../src/snapshot/format/shard-count.ts'

describe('shardCountFor', () => {
  for (const [records, count] of [
    [0, 1],
    [1000, 1],
    [10_000, 32],
    [100_000, 256],
    [1_000_000, 1024],
    [1_000_000_000, SHARDS_MAX],
  ] as const) {
    test(`gives ${records} records ${count} shards`, () => {
      assert.equal(shardCountFor(records), count)
    })
  }

  test('is a power of two that never falls as records are added', () => {
    fc.assert(
      fc.property(fc.nat(20_000_000), fc.nat(1_000_000), (records, more) => {
        const count = shardCountFor(records)
        assert.ok(count >= 1 && count <= SHARDS_MAX && (count & (count - 1)) === 0)
        assert.ok(shardCountFor(records + more) >= count)
      }),
    )
  })
})
