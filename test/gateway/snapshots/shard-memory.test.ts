import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ShardMemory } from '../../../src/gateway/snapshots/shard-memory.ts'

/** Holds shards of ten bytes each. */
class Holder {
  shards: number
  constructor(shards: number) {
    this.shards = shards
  }
  heldBytes(): number {
    return 10 * this.shards
  }
  release(): boolean {
    if (this.shards === 0) return false
    this.shards--
    return true
  }
}

describe('ShardMemory', () => {
  test('has the largest holder let go until all are within the bound', () => {
    const memory = new ShardMemory(65)
    const holders = [new Holder(2), new Holder(7)]
    for (const holder of holders) memory.add(holder)
    memory.enforce()
    assert.deepEqual(
      holders.map(({ shards }) => shards),
      [2, 4],
    )
    assert.equal(memory.heldBytes(), 60)
  })

  test('ends when nobody can let go of more', () => {
    const memory = new ShardMemory(5)
    memory.add({ heldBytes: () => 10, release: () => false })
    memory.enforce()
    assert.equal(memory.heldBytes(), 10)
  })
})
