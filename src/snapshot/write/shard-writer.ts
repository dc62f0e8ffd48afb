/**
 * Writes the bytes of a shard, section after section (../README.md has the layout).
 * @module
 */
import { readInt32, word } from '../../dns/bytes/bytes.ts'
import {
  FORM,
  HEADER,
  MAGIC,
  NAMESPACES_MAX,
  POD_BIT,
  SHARD_HEADER_BYTES,
  SLOT_BYTES,
  SnapshotError,
  YIELDING_BIT,
} from '../format/layout.ts'
import { ByteBuffer } from './byte-buffer.ts'
import { type IndexPlan, placeNames } from './index-plan.ts'
import type { NodeDraft } from './node-draft.ts'
import type { SetDraft } from './set-drafts.ts'
import { reserveSet, UnitWriter, writeSet } from './unit-writer.ts'

/** A shard, and its namespaces by number, which a patch needs. */
export type BuiltShard = { readonly bytes: Uint8Array; readonly namespaces: readonly string[] }

/**
 * Returns namespaces in the order of their numbers, '' first.
 * @throws {SnapshotError} when they are over 16,383
 */
export function sortedNamespaces(namespaces: Iterable<string>): string[] {
  const others = new Set(namespaces)
  others.delete('')
  if (others.size <= NAMESPACES_MAX) return ['', ...[...others].sort()]
  const count = `${others.size} namespaces, at most ${NAMESPACES_MAX}`
  throw new SnapshotError(`Cannot build shard: ${count}`)
}

/** The targets of one address in one namespace, and whether a Pod there has the address. */
export type PointerDraft = {
  readonly address: Uint8Array
  readonly namespace: string
  set: SetDraft | undefined
  isPod: boolean
  /** Whether they yield to the targets of other namespaces that the client sees. */
  isYielding: boolean
}

/** The columns of an address table, sorted by address. */
export class AddressRows {
  /** Addresses as 32-bit numbers, one or four a row, the highest first. */
  readonly parts: number[] = []
  /** Offsets of PTR RRsets; 0 for none. */
  readonly sets: number[] = []
  /** Number and marks of the namespace in the lower 16 bits, count of targets in the upper ones. */
  readonly infos: number[] = []
}

/** Writes nodes, then pointers, then the rest; `finish` returns the shard. */
export class ShardWriter {
  readonly out: ByteBuffer = new ByteBuffer()
  /** Its namespaces by number. */
  readonly namespaces: readonly string[]
  /** Offsets of the nodes so far, in the order of the plan. */
  readonly nodeOffsets: number[] = []
  readonly rows4: AddressRows = new AddressRows()
  readonly rows6: AddressRows = new AddressRows()
  private readonly header = new Int32Array(SHARD_HEADER_BYTES / 4)
  private readonly plan: IndexPlan
  private readonly units: UnitWriter
  private readonly ids = new Map<string, number>()
  private lastId = 0

  constructor(namespaces: readonly string[], plan: IndexPlan) {
    this.namespaces = namespaces
    this.plan = plan
    const { header, out } = this
    this.units = new UnitWriter(out, (namespace) => this.idOf(namespace))
    out.reserve(SHARD_HEADER_BYTES)
    header[HEADER.SLOTS] = out.reserve(SLOT_BYTES * plan.slotCount)
    header[HEADER.SLOT_COUNT] = plan.slotCount
    header[HEADER.SEED] = plan.seed
    header[HEADER.NODES] = out.size
  }

  /** Returns the number of one of the shard's namespaces. */
  idOf(namespace: string): number {
    // Neighbours mostly share their namespace.
    if (this.namespaces[this.lastId] === namespace) return this.lastId
    this.lastId = this.ids.get(namespace) ?? this.namespaces.indexOf(namespace)
    this.ids.set(namespace, this.lastId)
    return this.lastId
  }

  /** Writes nodes, sorted, in whole units; each unit's RRsets follow its nodes. */
  writeNodes(nodes: readonly NodeDraft[]): void {
    for (let at = 0; at < nodes.length; ) {
      const start = at
      const unit = nodes[start]?.unit
      while (at < nodes.length && nodes[at]?.unit === unit) at++
      this.units.write(nodes.slice(start, at))
    }
    for (const { offset } of nodes) this.nodeOffsets.push(offset)
  }

  /** Ends the nodes and fills the index, which points to them. */
  endNodes(): void {
    const { header, out, plan, nodeOffsets } = this
    header[HEADER.NODE_COUNT] = nodeOffsets.length
    header[HEADER.SETS] = out.size
    const slots = word(header, HEADER.SLOTS)
    const placed = placeNames(plan)
    for (let slot = 0; slot < placed.length; slot++) {
      const number = word(placed, slot)
      if (number === 0) continue
      out.put32(slots + SLOT_BYTES * slot, word(plan.hashes, number - 1))
      out.put32(slots + SLOT_BYTES * slot + 4, nodeOffsets[number - 1] ?? 0)
    }
  }

  /** Writes the PTR RRset of an address, if any, and adds its row. Addresses rise. */
  writePointer({ address, namespace, set, isPod, isYielding }: PointerDraft): void {
    const { parts, sets, infos } = address.length === 4 ? this.rows4 : this.rows6
    for (let at = 0; at < address.length; at += 4) parts.push(readInt32(address, at))
    const owner = this.idOf(namespace) | (isPod ? POD_BIT : 0) | (isYielding ? YIELDING_BIT : 0)
    sets.push(set === undefined ? 0 : reserveSet(this.out, set, FORM.PARTS))
    infos.push(owner | ((set?.rdata.length ?? 0) << 16))
    if (set !== undefined) writeSet(this.out, set)
  }

  /**
   * Writes the address tables, the namespaces and the header.
   * @param namespacesSection the bytes of the namespaces, when they are known
   */
  finish(namespacesSection?: Uint8Array): BuiltShard {
    const { header, out, namespaces } = this
    header[HEADER.SETS_END] = out.size
    this.writeRows(HEADER.ADDRESS4, this.rows4)
    this.writeRows(HEADER.ADDRESS6, this.rows6)
    header[HEADER.NAMESPACES] = out.size
    header[HEADER.NAMESPACE_COUNT] = namespaces.length
    if (namespacesSection === undefined) this.writeNamespaces()
    else out.append(namespacesSection)
    header[HEADER.MAGIC] = MAGIC
    header[HEADER.BYTES] = out.size
    for (let i = 0; i < header.length; i++) out.put32(4 * i, word(header, i))
    return { bytes: out.take(), namespaces }
  }

  private writeRows(field: number, { parts, sets, infos }: AddressRows): void {
    this.header[field] = this.out.size
    this.header[field + 1] = sets.length
    for (const column of [parts, sets, infos]) for (const value of column) this.out.append32(value)
  }

  private writeNamespaces(): void {
    const encoder = new TextEncoder()
    for (const namespace of this.namespaces) {
      const text = encoder.encode(namespace)
      this.out.append16(text.length)
      this.out.append(text)
    }
    this.out.align()
  }
}
