/**
 * Signatures of RRsets by their content, bounded in number and in bytes; evicts the least recently
 * used first.
 * @module
 */

/** Bound on the average bytes of an RRset: some come from outside. */
const BYTES_PER_ENTRY_MAX = 512
/** CoreDNS's cache has 256 shards, for at least four entries each. */
const ENTRIES_MIN = 1024

type Entry = {
  /** Data of RRSIG records. */
  readonly signatures: readonly Uint8Array[]
  /** When to renew them. */
  readonly untilMs: number
}

/** A cache of signatures. */
export class SignatureCache {
  private readonly entries = new Map<string, Entry>()
  private readonly entriesMax: number
  private bytes = 0

  constructor(capacity: number) {
    this.entriesMax = Math.max(capacity, ENTRIES_MIN)
  }

  get size(): number {
    return this.entries.size
  }

  /**
   * Finds signatures that need no renewal yet. Ignores those to renew after `untilMsMax`: a clock
   * that was ahead made them, and they are not valid yet.
   */
  find(
    key: string,
    nowMs: number,
    untilMsMax: number = Number.POSITIVE_INFINITY,
  ): readonly Uint8Array[] | undefined {
    const entry = this.entries.get(key)
    if (entry === undefined) return undefined
    this.entries.delete(key)
    this.bytes -= key.length
    if (entry.untilMs < nowMs || entry.untilMs > untilMsMax) return undefined
    this.put(key, entry.signatures, entry.untilMs)
    return entry.signatures
  }

  /** Stores signatures under a key that is not in the cache. */
  put(key: string, signatures: readonly Uint8Array[], untilMs: number): void {
    this.entries.set(key, { signatures, untilMs })
    this.bytes += key.length
    for (const oldest of this.entries.keys()) {
      const isOverfull = this.entries.size > this.entriesMax
      if (!isOverfull && this.bytes <= this.entriesMax * BYTES_PER_ENTRY_MAX) return
      this.entries.delete(oldest)
      this.bytes -= oldest.length
    }
  }
}
