/**
 * The names of a zone with their records, in a few large buffers: records become objects only when
 * somebody asks for them.
 * @module
 */
import {
  byteAt,
  concatBytes,
  equalBytes,
  readUint16,
  readUint32,
  toLatin1,
} from '../../../dns/bytes/bytes.ts'
import { labelOffsets, lowerName } from '../../../dns/names/name.ts'
import type { ResourceRecord } from '../../../dns/wire/message.ts'
import { type NameEntry, NameLists } from '../../plugin-kit/name-lists.ts'

/** The type that an RRSIG record signs (RFC 4034 §3.1.1). */
export function coveredType({ rdata }: ResourceRecord): number {
  return readUint16(rdata, 0)
}

/** A name that exists. */
export type ZoneNode = {
  readonly owner: Uint8Array
  /**
   * Its records by type, with signatures; none for an empty non-terminal. As in CoreDNS, without
   * the apex's SOA and NS records.
   */
  readonly sets: ReadonlyMap<number, readonly ResourceRecord[]>
}

/** The label of a wildcard. */
export const ASTERISK: Uint8Array = Uint8Array.of(1, 0x2a)

/** Bytes of a stored record before its owner: type, class, TTL, size of the owner. */
const HEAD_BYTES = 9
/** Records of a name beyond which an index finds duplicates. */
const SMALL_LIST = 16

/** Names and records. Never removes one. */
export class ZoneNodes {
  private readonly lists = new NameLists()
  /** Types and rdata of names with many records. */
  private readonly known = new Map<NameEntry, Set<string>>()

  /** @param origin the apex, in lower case, which exists even without records */
  constructor(origin: Uint8Array) {
    this.lists.entry(origin)
  }

  /** The number of names. */
  get size(): number {
    return this.lists.size
  }

  /** Finds a name in lower case. */
  get(name: Uint8Array): ZoneNode | undefined {
    const entry = this.lists.find(name)
    return entry === 0 ? undefined : this.nodeAt(entry)
  }

  /** Returns the node of an entry. */
  nodeAt(entry: NameEntry): ZoneNode {
    return new StoredNode(this.lists, entry)
  }

  /** Lists all nodes, in the order in which they were added. */
  *values(): Generator<ZoneNode> {
    for (const entry of this.lists.entries()) yield this.nodeAt(entry)
  }

  /**
   * Adds a record unless its name has one of this type with the same rdata (RFC 2181 §5). Returns
   * the entry of its name.
   */
  addRecord(record: ResourceRecord): NameEntry {
    const name = lowerName(record.owner)
    const entry = this.add(name)
    if (!this.isNew(entry, record)) return entry
    const { type, class: rrClass, ttlSeconds, owner, rdata } = record
    const own = equalBytes(owner, name) ? 0 : owner.length
    const head = new Uint8Array(HEAD_BYTES)
    const view = new DataView(head.buffer)
    view.setUint16(0, type)
    view.setUint16(2, rrClass)
    view.setUint32(4, ttlSeconds)
    view.setUint8(8, own)
    this.lists.append(entry, concatBytes(head, owner.subarray(0, own), rdata))
    return entry
  }

  /** Adds a name of the zone and, if it is new, those above it up to the first known one. */
  private add(name: Uint8Array): NameEntry {
    const { lists } = this
    const { size } = lists
    const entry = lists.entry(name)
    if (lists.size === size) return entry
    for (const at of labelOffsets(name).slice(1)) {
      const before = lists.size
      lists.entry(name.subarray(at))
      if (lists.size === before) break
    }
    return entry
  }

  private isNew(entry: NameEntry, { type, rdata }: ResourceRecord): boolean {
    const known = this.known.get(entry)
    if (known !== undefined) {
      const { size } = known
      return known.add(keyOf(type, rdata)).size > size
    }
    const keys: string[] = []
    for (const stored of this.lists.valuesOf(entry)) {
      const storedType = readUint16(stored, 0)
      const storedRdata = rdataOf(stored)
      if (storedType === type && equalBytes(storedRdata, rdata)) return false
      keys.push(keyOf(storedType, storedRdata))
    }
    if (keys.length >= SMALL_LIST) this.known.set(entry, new Set([...keys, keyOf(type, rdata)]))
    return true
  }
}

function keyOf(type: number, rdata: Uint8Array): string {
  return `${type} ${toLatin1(rdata)}`
}

function rdataOf(stored: Uint8Array): Uint8Array {
  return stored.subarray(HEAD_BYTES + byteAt(stored, HEAD_BYTES - 1))
}

/** A node that reads its records when they are needed. */
class StoredNode implements ZoneNode {
  readonly owner: Uint8Array
  private readonly lists: NameLists
  private readonly entry: NameEntry
  private read: Map<number, ResourceRecord[]> | undefined

  constructor(lists: NameLists, entry: NameEntry) {
    this.lists = lists
    this.entry = entry
    this.owner = lists.nameOf(entry)
  }

  get sets(): ReadonlyMap<number, readonly ResourceRecord[]> {
    this.read ??= this.readSets()
    return this.read
  }

  private readSets(): Map<number, ResourceRecord[]> {
    const sets = new Map<number, ResourceRecord[]>()
    for (const stored of this.lists.valuesOf(this.entry)) {
      const type = readUint16(stored, 0)
      const size = byteAt(stored, HEAD_BYTES - 1)
      const record = {
        owner: size === 0 ? this.owner : stored.subarray(HEAD_BYTES, HEAD_BYTES + size),
        type,
        class: readUint16(stored, 2),
        ttlSeconds: readUint32(stored, 4),
        rdata: rdataOf(stored),
      }
      const set = sets.get(type)
      if (set === undefined) sets.set(type, [record])
      else set.push(record)
    }
    return sets
  }
}
