/**
 * Signatures of RRsets by what they cover, bounded in number and in bytes; those that were
 * asked for longest ago go first.
 * @module
 */

/** Bytes that what is covered may have on average: RRsets come from outside, too. */
const BYTES_PER_ENTRY_MAX = 512
/** CoreDNS's cache is in 256 parts, which have room for four each at least. */
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

  /** RRsets whose signatures are kept. */
  get size(): number {
    return this.entries.size
  }

  /**
   * Finds signatures that are good for a while yet, until `untilMsMax` at the most: those that are
   * good for longer were made by a clock that was ahead, and are not good yet.
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

  /** Keeps signatures of what is not kept yet. */
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
