/**
 * Zones by their names: finds the closest zone above a name in a time that does not grow with the
 * number of zones.
 * @module
 */
import { byteAt } from '../bytes/bytes.ts'
import { LABELS_MAX, NAME_BYTES_MAX } from '../names/limits.ts'
import { equalNames } from '../names/name.ts'
import type { Query } from './query.ts'

type Entry<T> = { readonly zone: Uint8Array; readonly value: T }

/** A name in lower case, with the offsets of its labels. */
type LabelledName = Pick<Query, 'name' | 'nameBytes' | 'labels' | 'labelCount'>

/** FNV-1a, from the last byte to the first, so that one pass has the hash of each parent. */
const HASH_START = 0x811c9dc5
const HASH_FACTOR = 0x01000193

/** Values by zone, absolute and in lower case. Zones come from the configuration. */
export class ZoneIndex<T> {
  private readonly entries = new Map<number, Entry<T>[]>()
  /** 1 for each size in bytes that some zone has: most names are of no zone's size. */
  private readonly sizes = new Uint8Array(NAME_BYTES_MAX + 1)
  /** Hashes of the names that begin at each label of the current query name. */
  private readonly hashes = new Int32Array(LABELS_MAX)

  /** Returns the value of a zone; `undefined` for none. */
  get(zone: Uint8Array): T | undefined {
    return this.entries.get(hashOf(zone))?.find((one) => equalNames(one.zone, zone))?.value
  }

  /** Sets the value of a zone. */
  set(zone: Uint8Array, value: T): void {
    const hash = hashOf(zone)
    const others = (this.entries.get(hash) ?? []).filter((one) => !equalNames(one.zone, zone))
    this.entries.set(hash, [...others, { zone, value }])
    this.sizes[zone.length] = 1
  }

  /** Removes a zone. Its size stays marked, which costs a look at most. */
  delete(zone: Uint8Array): void {
    const hash = hashOf(zone)
    const others = (this.entries.get(hash) ?? []).filter((one) => !equalNames(one.zone, zone))
    if (others.length > 0) this.entries.set(hash, others)
    else this.entries.delete(hash)
  }

  /**
   * Finds the closest zone at or above a query name; with `accepts`, the closest one that it
   * accepts. Allocates nothing.
   */
  closest(query: LabelledName, accepts?: (value: T) => boolean): T | undefined {
    const { labels, labelCount, nameBytes } = query
    this.hashLabels(query)
    for (let i = 0; i <= labelCount; i++) {
      const start = i < labelCount ? byteAt(labels, i) : nameBytes - 1
      if (this.sizes[nameBytes - start] !== 1) continue
      const hash = i < labelCount ? (this.hashes[i] ?? 0) : HASH_START | 0
      const found = this.entries.get(hash)
      if (found === undefined) continue
      for (const { zone, value } of found) {
        if (endsAt(query, zone, start) && accepts?.(value) !== false) return value
      }
    }
    return undefined
  }

  private hashLabels({ name, nameBytes, labels, labelCount }: LabelledName): void {
    let hash = HASH_START | 0
    let label = labelCount - 1
    for (let at = nameBytes - 2; at >= 0; at--) {
      hash = Math.imul(hash ^ byteAt(name, at), HASH_FACTOR)
      if (label >= 0 && byteAt(labels, label) === at) this.hashes[label--] = hash
    }
  }
}

/** Returns a name that is no query's in lower case, with the offsets of its labels. */
export function labelledName(wire: Uint8Array): LabelledName {
  // Length bytes are below those of letters.
  const name = wire.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte))
  const starts: number[] = []
  for (let at = 0; byteAt(name, at) !== 0; at += byteAt(name, at) + 1) starts.push(at)
  return {
    name,
    nameBytes: name.length,
    labels: Uint8Array.from(starts),
    labelCount: starts.length,
  }
}

function hashOf(zone: Uint8Array): number {
  let hash = HASH_START | 0
  for (let at = zone.length - 2; at >= 0; at--) {
    hash = Math.imul(hash ^ byteAt(zone, at), HASH_FACTOR)
  }
  return hash
}

function endsAt({ name, nameBytes }: LabelledName, zone: Uint8Array, start: number): boolean {
  if (zone.length !== nameBytes - start) return false
  for (let i = 0; i < zone.length; i++) {
    if (byteAt(name, start + i) !== byteAt(zone, i)) return false
  }
  return true
}
