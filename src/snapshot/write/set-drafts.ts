/**
 * Drafts of RRsets: each record once, in an order that does not depend on that of the entries.
 * @module
 */
import { compareBytes, EMPTY, equalBytes, toLatin1 } from '../../dns/bytes/bytes.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import { RECORDS_PER_SET_MAX, SET_TTL_MAX } from '../format/layout.ts'
import { hashName } from '../format/name-hash.ts'
import type { Rdata, RRset } from '../records/zone-entry.ts'

/** Most records that are compared pairwise rather than by a map. */
const FEW = 8

/** A draft of an RRset. */
export type SetDraft = {
  readonly type: number
  ttlSeconds: number
  rdata: readonly Rdata[]
  /** The same array, if it is from several entries: then the order means nothing. */
  merged: Rdata[] | undefined
  /** Its form and its offset in the shard; 0 until space is reserved. */
  form: number
  offset: number
}

/** Returns a draft of an RRset. It takes over the array of records. */
export function draftSet(type: number, ttlSeconds: number, rdata: readonly Rdata[]): SetDraft {
  return { type, ttlSeconds, rdata, merged: undefined, form: 0, offset: 0 }
}

/** Adds the records of an entry to the RRsets of a name, which are sorted by type. */
export function addRdata(
  sets: readonly SetDraft[],
  { type, ttlSeconds, rdata }: Pick<RRset, 'type' | 'ttlSeconds' | 'rdata'>,
): readonly SetDraft[] {
  let at = sets.length
  while (at > 0 && (sets[at - 1]?.type ?? 0) > type) at--
  const known = sets[at - 1]
  if (known?.type === type) {
    mergeRdata(known, ttlSeconds, rdata)
    return sets
  }
  const set = draftSet(type, ttlSeconds, rdata)
  return sets.length === 0 ? [set] : [...sets.slice(0, at), set, ...sets.slice(at)]
}

/** Adds records to an RRset; the lower TTL counts. */
export function mergeRdata(set: SetDraft, ttlSeconds: number, rdata: readonly Rdata[]): void {
  set.ttlSeconds = Math.min(set.ttlSeconds, ttlSeconds)
  set.merged ??= [...set.rdata]
  for (const one of rdata) set.merged.push(one)
  set.rdata = set.merged
}

/**
 * Removes duplicates. Sorts addresses, pointers and records from several entries; other records
 * keep their order. Drops records over 65,535.
 */
export function finishSet(set: SetDraft): void {
  set.ttlSeconds = Math.min(set.ttlSeconds, SET_TTL_MAX)
  if (set.rdata.length === 1) return
  const { type, merged } = set
  const isOrdered =
    merged !== undefined || type === TYPE.A || type === TYPE.AAAA || type === TYPE.PTR
  const unique = isOrdered ? inOrder(set.rdata) : firstOfEach(set.rdata)
  set.rdata = unique.length > RECORDS_PER_SET_MAX ? unique.slice(0, RECORDS_PER_SET_MAX) : unique
}

function inOrder(rdata: readonly Rdata[]): readonly Rdata[] {
  return [...rdata].sort(compareRdata).filter(isFirst)
}

/** Returns whether a record differs from the one before, in sorted records. */
function isFirst(rdata: Rdata, i: number, all: readonly Rdata[]): boolean {
  const before = all[i - 1]
  return before === undefined || !isSameRdata(rdata, before)
}

function firstOfEach(rdata: readonly Rdata[]): readonly Rdata[] {
  if (isEachAnother(rdata)) return rdata
  return [...new Map(rdata.map((one) => [rdataKey(one), one])).values()]
}

function isEachAnother(rdata: readonly Rdata[]): boolean {
  // Different hashes mean different records.
  if (rdata.length > FEW) return new Set(rdata.map(hashRdata)).size === rdata.length
  for (let i = 1; i < rdata.length; i++) {
    const one = rdata[i]
    for (let k = 0; k < i; k++) if (one !== undefined && isSameRdata(one, rdata[k])) return false
  }
  return true
}

/** Hashes the first and the last record of a set, its type, TTL and size. */
export function setHash({ type, ttlSeconds, rdata }: SetDraft): number {
  const first = rdata[0]
  const last = rdata.at(-1)
  const ends = (first ? hashRdata(first) : 0) + (last ? hashRdata(last) : 0)
  return (ends ^ type ^ (ttlSeconds << 8) ^ (rdata.length << 16)) | 0
}

/** Returns whether two sets have the same type, TTL and records in the same order. */
export function isSameSet(a: SetDraft, b: SetDraft): boolean {
  if (a.type !== b.type || a.ttlSeconds !== b.ttlSeconds) return false
  if (a.rdata.length !== b.rdata.length) return false
  return a.rdata.every((one, i) => isSameRdata(one, b.rdata[i]))
}

function hashRdata({ bytes, target }: Rdata): number {
  const hash = hashName(bytes, bytes.length, 0)
  return target === undefined ? hash : hashName(target, target.length, hash)
}

function isSameRdata(a: Rdata, b: Rdata | undefined): boolean {
  if (b === undefined || (a.bytes !== b.bytes && !equalBytes(a.bytes, b.bytes))) return false
  if (a.target === undefined || b.target === undefined) return a.target === b.target
  return a.target === b.target || equalBytes(a.target, b.target)
}

function rdataKey({ bytes, target }: Rdata): string {
  return `${toLatin1(bytes)}\n${target === undefined ? '' : `.${toLatin1(target)}`}`
}

/** Compares by the name below the origin, none first, then by the bytes. */
function compareRdata(a: Rdata, b: Rdata): number {
  return (
    compareBytes(a.target ?? EMPTY, b.target ?? EMPTY) ||
    compareBytes(a.bytes, b.bytes) ||
    Number(a.target !== undefined) - Number(b.target !== undefined)
  )
}
