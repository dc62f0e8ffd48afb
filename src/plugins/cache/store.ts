/**
 * The entries of a cache, bounded in number and in records; evicts the least recently used first.
 * @module
 */
import type { Reply } from '../../dns/message.ts'

/** Bound on the average records of an entry: replies come from outside and may be large. */
const RECORDS_PER_ENTRY_MAX = 32

/** A cached reply. */
export type Entry = {
  readonly reply: Reply
  /** TTL of all its records when it was stored. */
  readonly ttlSeconds: number
  readonly storedMs: number
  /** Whether it is a positive response. */
  readonly isAnswer: boolean
  /** The previous positive entry of a negative one, for `prefer_positive`. */
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
   * Finds an entry that expired at most `staleSeconds` ago, and marks it as used; removes an older
   * one.
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

  /** Finds an entry, even an expired one, without marking it as used. */
  peek(key: string): Entry | undefined {
    return this.entries.get(key)
  }

  /** Stores an entry. Returns the number of evicted entries. */
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

/** Returns the whole seconds until an entry expires; not positive for an expired entry. */
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
