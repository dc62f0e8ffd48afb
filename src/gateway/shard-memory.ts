/**
 * How many bytes of shards a process or isolate holds, over all its clusters.
 * @module
 */

/** Half of what an isolate may have: a million records, and room for what answers need. */
export const SHARD_MEMORY_BYTES: number = 72 * 1024 * 1024

/** Who holds shards. */
export type ShardHolder = {
  /** Bytes of all shards that it holds. */
  readonly heldBytes: () => number
  /** Lets go of a shard that has not been used of late; false when there is none to let go of. */
  readonly release: () => boolean
}

/** A bound for some holders. */
export class ShardMemory {
  private readonly bytesMax: number
  private readonly holders = new Set<ShardHolder>()

  constructor(bytesMax: number = SHARD_MEMORY_BYTES) {
    this.bytesMax = bytesMax
  }

  /** Takes another holder in. */
  add(holder: ShardHolder): void {
    this.holders.add(holder)
  }

  /** Has the largest holders let go of shards until all of them are within the bound. */
  enforce(): void {
    while (this.heldBytes() > this.bytesMax) {
      const byBytes = [...this.holders].sort((a, b) => b.heldBytes() - a.heldBytes())
      if (!byBytes.some((holder) => holder.release())) return
    }
  }

  /** Bytes held at present. */
  heldBytes(): number {
    let bytes = 0
    for (const holder of this.holders) bytes += holder.heldBytes()
    return bytes
  }
}
