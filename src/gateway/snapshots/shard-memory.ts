/**
 * Bounds the shards in memory.
 * @module
 */

/** About half of an isolate's 128 MB: a million records, and room for queries. */
const SHARD_MEMORY_BYTES: number = 72 * 1024 * 1024

/** A holder of shards. */
export type ShardHolder = {
  /** Returns the bytes of its shards. */
  readonly heldBytes: () => number
  /** Releases a shard that was not used recently; false when there is none. */
  readonly release: () => boolean
}

/** A common bound for several holders. */
export class ShardMemory {
  private readonly bytesMax: number
  private readonly holders = new Set<ShardHolder>()

  constructor(bytesMax: number = SHARD_MEMORY_BYTES) {
    this.bytesMax = bytesMax
  }

  /** Adds a holder. */
  add(holder: ShardHolder): void {
    this.holders.add(holder)
  }

  /** Forgets a holder. */
  remove(holder: ShardHolder): void {
    this.holders.delete(holder)
  }

  /** Makes the largest holders release shards until the sum is within the bound. */
  enforce(): void {
    while (this.heldBytes() > this.bytesMax) {
      const byBytes = [...this.holders].sort((a, b) => b.heldBytes() - a.heldBytes())
      if (!byBytes.some((holder) => holder.release())) return
    }
  }

  /** Returns the bytes of all holders. */
  heldBytes(): number {
    let bytes = 0
    for (const holder of this.holders) bytes += holder.heldBytes()
    return bytes
  }
}
