/**
 * The entries of a cache, bounded in number; the one that was used longest ago goes first.
 * @module
 */
import type { Reply } from '../../dns/message.ts'

/** A reply as it was kept. */
export type Entry = {
  readonly reply: Reply
  /** TTL of all its records when it was kept. */
  readonly ttlSeconds: number
  readonly storedMs: number
}

/** Entries by question. */
export class EntryStore {
  private readonly entries = new Map<string, Entry>()
  private readonly entriesMax: number

  constructor(entriesMax: number) {
    this.entriesMax = entriesMax
  }

  get size(): number {
    return this.entries.size
  }

  /** Finds an entry whose time is not up, and marks it as used. */
  find(key: string, nowMs: number): Entry | undefined {
    const entry = this.entries.get(key)
    if (entry === undefined) return undefined
    this.entries.delete(key)
    if (secondsLeft(entry, nowMs) <= 0) return undefined
    this.entries.set(key, entry)
    return entry
  }

  /** Keeps an entry. Returns whether another had to go for it. */
  put(key: string, entry: Entry): boolean {
    this.entries.delete(key)
    this.entries.set(key, entry)
    if (this.entries.size <= this.entriesMax) return false
    const oldest = this.entries.keys().next()
    if (!oldest.done) this.entries.delete(oldest.value)
    return true
  }
}

/** Whole seconds that an entry may still be used. */
export function secondsLeft({ ttlSeconds, storedMs }: Entry, nowMs: number): number {
  return ttlSeconds - Math.floor((nowMs - storedMs) / 1000)
}
