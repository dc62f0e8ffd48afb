/**
 * The entries of a cache, bounded in number and in bytes; evicts the least recently used first.
 * @module
 */

import type { Reply } from '../../../dns/wire/message.ts'
import type { CacheMemory } from './cache-memory.ts'
import { type PackedReply, packReply } from './packed-reply.ts'

/** Memory of an entry and its place in the map besides key and records; measured on Node 26. */
const ENTRY_BYTES = 900
/** Entries of one map: when a map has no room, V8 copies all of it, 10 ms for 100,000 entries. */
const MAP_ENTRIES = 1024

/** A cached reply. */
export type Entry = {
  readonly packed: PackedReply
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

/** Creates an entry that no client has used yet. */
export function newEntry(
  kept: Pick<Entry, 'ttlSeconds' | 'storedMs' | 'isAnswer'> & { readonly reply: Reply },
  lastGood?: Entry,
): Entry {
  const { reply, ttlSeconds, storedMs, isAnswer } = kept
  return {
    packed: packReply(reply),
    ttlSeconds,
    storedMs,
    isAnswer,
    lastGood,
    hits: 0,
    lastHitMs: Number.NEGATIVE_INFINITY,
    isRefreshing: false,
    retryAfterMs: 0,
  }
}

/** An entry between the ones that were used just after and just before it. */
type Link = {
  readonly key: string
  readonly entry: Entry
  readonly map: Map<string, Link>
  newer: Link | undefined
  older: Link | undefined
}

/** The bounds of a store. */
export type StoreOptions = {
  readonly entriesMax: number
  /** Estimated bytes. */
  readonly bytesMax: number
  /** The memory that it shares with others. */
  readonly memory?: CacheMemory | undefined
  /** Called for each entry that makes room for another, here or in another store. */
  readonly onEvicted: () => void
}

/** Entries by question, in the order of their last use. */
export class EntryStore {
  private readonly maps: readonly Map<string, Link>[]
  private readonly options: StoreOptions
  private newest: Link | undefined
  private oldest: Link | undefined
  private count = 0
  private estimate = 0
  private isClosed = false

  constructor(options: StoreOptions) {
    this.options = options
    const maps = Math.ceil(options.entriesMax / MAP_ENTRIES)
    this.maps = Array.from({ length: maps }, () => new Map())
  }

  /** Estimated memory of all entries. */
  get bytes(): number {
    return this.estimate
  }

  get size(): number {
    return this.count
  }

  /**
   * Finds an entry that expired at most `staleSeconds` ago, and marks it as used; removes an older
   * one.
   */
  find(key: string, nowMs: number, staleSeconds = 0): Entry | undefined {
    const link = this.mapOf(key).get(key)
    if (link === undefined) return undefined
    const { entry } = link
    const left = secondsLeft(entry, nowMs)
    if (left > 0 || -left < staleSeconds) {
      if (link !== this.newest) {
        this.unlink(link)
        this.linkNewest(link)
      }
      return entry
    }
    this.drop(link)
    return undefined
  }

  /** Finds an entry, even an expired one, without marking it as used. */
  peek(key: string): Entry | undefined {
    return this.mapOf(key).get(key)?.entry
  }

  /** Lists all keys and entries in no order; may go on while others come and go. */
  *entries(): Generator<readonly [key: string, entry: Entry]> {
    for (const map of this.maps) for (const { key, entry } of map.values()) yield [key, entry]
  }

  /** Stores an entry, unless the store is closed. */
  put(key: string, entry: Entry): void {
    if (this.isClosed) return
    const map = this.mapOf(key)
    const before = map.get(key)
    if (before !== undefined) this.drop(before)
    const link = { key, entry, map, newer: undefined, older: undefined }
    map.set(key, link)
    this.linkNewest(link)
    this.count++
    this.changeBytes(bytesOf(key, entry))
    while (this.isOverfull) this.evict()
    this.options.memory?.makeRoom()
  }

  /** Evicts the least recently used entry. */
  evict(): void {
    if (this.oldest === undefined) return
    this.drop(this.oldest)
    this.options.onEvicted()
  }

  remove(key: string): void {
    const link = this.mapOf(key).get(key)
    if (link !== undefined) this.drop(link)
  }

  /** Forgets all entries, and stores no more. */
  close(): void {
    this.isClosed = true
    for (const map of this.maps) map.clear()
    this.newest = undefined
    this.oldest = undefined
    this.count = 0
    this.changeBytes(-this.estimate)
  }

  private drop(link: Link): void {
    const { key, entry, map } = link
    map.delete(key)
    this.unlink(link)
    this.count--
    this.changeBytes(-bytesOf(key, entry))
  }

  private changeBytes(bytes: number): void {
    this.estimate += bytes
    this.options.memory?.change(this, bytes)
  }

  private get isOverfull(): boolean {
    const { entriesMax, bytesMax } = this.options
    return this.count > entriesMax || (this.count > 1 && this.estimate > bytesMax)
  }

  /** Selects a key's map by a hash (FNV-1a). */
  private mapOf(key: string): Map<string, Link> {
    const { maps } = this
    let hash = 0x811c9dc5
    for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
    const map = maps[(hash >>> 0) % maps.length]
    if (map === undefined) throw new RangeError('a cache must have room for an entry')
    return map
  }

  private linkNewest(link: Link): void {
    link.older = this.newest
    link.newer = undefined
    if (this.newest !== undefined) this.newest.newer = link
    this.newest = link
    this.oldest ??= link
  }

  private unlink({ newer, older }: Link): void {
    if (newer === undefined) this.newest = older
    else newer.older = older
    if (older === undefined) this.oldest = newer
    else older.newer = newer
  }
}

/** Returns the whole seconds until an entry expires; not positive for an expired entry. */
export function secondsLeft(
  { ttlSeconds, storedMs }: Pick<Entry, 'ttlSeconds' | 'storedMs'>,
  nowMs: number,
): number {
  return ttlSeconds - Math.floor((nowMs - storedMs) / 1000)
}

function bytesOf(key: string, { packed, lastGood }: Entry): number {
  const bytes = ENTRY_BYTES + key.length + packed.records.length
  return lastGood === undefined ? bytes : bytes + bytesOf('', lastGood)
}
