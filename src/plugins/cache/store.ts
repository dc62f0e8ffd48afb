/**
 * The entries of a cache, bounded in number and in records; the one that was used longest ago goes
 * first.
 * @module
 */
import type { Reply } from '../../dns/message.ts'

/** Records that entries may have on average: replies come from outside, and may be large. */
const RECORDS_PER_ENTRY_MAX = 32

/** A reply as it was kept. */
export type Entry = {
  readonly reply: Reply
  /** TTL of all its records when it was kept. */
  readonly ttlSeconds: number
  readonly storedMs: number
  /** Whether it is a positive response. */
  readonly isAnswer: boolean
  /** What had it before, when this has not, and both are wanted. */
  readonly lastGood: Entry | undefined
  /** Queries without a long pause. */
  hits: number
  lastHitMs: number
  /** Whether a refresh is under way. */
  isRefreshing: boolean
  /** After a failed refresh, the time of the next attempt. */
  retryAfterMs: number
}

/** Entries by question. */
export class EntryStore {
  private readonly entries = new Map<string, Entry>()
  private readonly entriesMax: number
  private recordCount = 0

  constructor(entriesMax: number) {
    this.entriesMax = entriesMax
  }

  get size(): number {
    return this.entries.size
  }

  /**
   * Finds an entry whose time is not up for more than `staleSeconds`, and marks it as used; forgets
   * one whose time is.
   */
  find(key: string, nowMs: number, staleSeconds = 0): Entry | undefined {
    const entry = this.entries.get(key)
    if (entry === undefined) return undefined
    const left = secondsLeft(entry, nowMs)
    if (left > 0 || -left < staleSeconds) {
      this.entries.delete(key)
      this.entries.set(key, entry)
      return entry
    }
    this.remove(key)
    return undefined
  }

  /** Finds an entry, whatever its time, and does not mark it. */
  peek(key: string): Entry | undefined {
    return this.entries.get(key)
  }

  /** Keeps an entry. Returns how many others had to go for it. */
  put(key: string, entry: Entry): number {
    this.remove(key)
    this.entries.set(key, entry)
    this.recordCount += recordCount(entry)
    let evicted = 0
    while (this.isOverfull) {
      const oldest = this.entries.keys().next()
      if (oldest.done) break
      this.remove(oldest.value)
      evicted++
    }
    return evicted
  }

  /** Forgets an entry. */
  remove(key: string): void {
    const entry = this.entries.get(key)
    if (entry === undefined) return
    this.entries.delete(key)
    this.recordCount -= recordCount(entry)
  }

  private get isOverfull(): boolean {
    const { size } = this.entries
    const recordsMax = RECORDS_PER_ENTRY_MAX * this.entriesMax
    return size > this.entriesMax || (size > 1 && this.recordCount > recordsMax)
  }
}

/** Whole seconds that an entry may still be used; not positive when its time is up. */
export function secondsLeft(
  { ttlSeconds, storedMs }: Pick<Entry, 'ttlSeconds' | 'storedMs'>,
  nowMs: number,
): number {
  return ttlSeconds - Math.floor((nowMs - storedMs) / 1000)
}

function recordCount({ reply, lastGood }: Entry): number {
  const { answer, authority, additional } = reply
  const own = answer.length + authority.length + additional.length
  return lastGood === undefined ? own : own + recordCount(lastGood)
}
