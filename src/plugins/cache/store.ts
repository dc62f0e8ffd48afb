/**
 * The entries of a cache, bounded in number and in bytes; evicts the least recently used first.
 * @module
 */
import type { Reply } from '../../dns/message.ts'

/** Average bytes of an entry by default: replies come from outside and may be large. */
const BYTES_PER_ENTRY = 8192
/** Memory of an entry without records, besides its key; measured on Node 26. */
const ENTRY_BYTES = 664
/** Entries of one map: when a map has no room, V8 copies all of it, 10 ms for 100,000 entries. */
const MAP_ENTRIES = 1024
/** Memory of a record besides its owner and rdata; measured on Node 26. */
const RECORD_BYTES = 540

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

/** Creates an entry that no client has used yet. */
export function newEntry(
  kept: Pick<Entry, 'reply' | 'ttlSeconds' | 'storedMs' | 'isAnswer'>,
  lastGood?: Entry,
): Entry {
  const { reply, ttlSeconds, storedMs, isAnswer } = kept
  return {
    reply,
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

/** Entries by question, in the order of their last use. */
export class EntryStore {
  private readonly maps: readonly Map<string, Link>[]
  private readonly entriesMax: number
  private readonly bytesMax: number
  private newest: Link | undefined
  private oldest: Link | undefined
  private count = 0
  private estimate = 0

  /** @param bytesMax estimated bytes; 8 KiB per entry if absent */
  constructor(entriesMax: number, bytesMax: number = BYTES_PER_ENTRY * entriesMax) {
    this.entriesMax = entriesMax
    this.bytesMax = bytesMax
    this.maps = Array.from({ length: Math.ceil(entriesMax / MAP_ENTRIES) }, () => new Map())
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

  /** Stores an entry. Returns the number of evicted entries. */
  put(key: string, entry: Entry): number {
    const map = this.mapOf(key)
    const before = map.get(key)
    if (before !== undefined) this.drop(before)
    const link = { key, entry, map, newer: undefined, older: undefined }
    map.set(key, link)
    this.linkNewest(link)
    this.count++
    this.estimate += bytesOf(key, entry)
    let evicted = 0
    while (this.isOverfull && this.oldest !== undefined) {
      this.drop(this.oldest)
      evicted++
    }
    return evicted
  }

  remove(key: string): void {
    const link = this.mapOf(key).get(key)
    if (link !== undefined) this.drop(link)
  }

  private drop(link: Link): void {
    const { key, entry, map } = link
    map.delete(key)
    this.unlink(link)
    this.count--
    this.estimate -= bytesOf(key, entry)
  }

  private get isOverfull(): boolean {
    const { count } = this
    return count > this.entriesMax || (count > 1 && this.estimate > this.bytesMax)
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

function bytesOf(key: string, entry: Entry): number {
  return 2 * key.length + replyBytes(entry)
}

function replyBytes({ reply, lastGood }: Entry): number {
  const sections = [reply.answer, reply.authority, reply.additional]
  let bytes = lastGood === undefined ? ENTRY_BYTES : ENTRY_BYTES + replyBytes(lastGood)
  for (const section of sections) {
    for (const { owner, rdata } of section) bytes += RECORD_BYTES + owner.length + rdata.length
  }
  return bytes
}
