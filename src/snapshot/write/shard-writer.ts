/**
 * Writes a shard: the same entries give the same bytes, whatever order they come in.
 * @module
 */
import { EMPTY, word } from '../../bytes/bytes.ts'
import type { Rdata, ZoneEntry } from '../../records/zone-entry.ts'
import { SnapshotError } from '../format/errors.ts'
import {
  ADDRESS_NAMES_BIT,
  FORM,
  GLUE_BIT,
  HEADER,
  IMPLIED_BIT,
  MAGIC,
  NAMESPACES_MAX,
  NODE_BYTES,
  PARTS_BYTES,
  POD_BIT,
  SET_REF_BYTES,
  SET_TTL_MAX,
  SETS_PER_NODE_MAX,
  SHARD_HEADER_BYTES,
  SLOT_BYTES,
  TARGET_BYTES,
  YIELDING_BIT,
} from '../format/layout.ts'
import { hashName } from '../format/name-hash.ts'
import { AddressRows } from './address-rows.ts'
import { ByteBuffer } from './byte-buffer.ts'
import { type IndexPlan, placeNames, planIndex } from './index-plan.ts'
import type { NodeDraft } from './node-draft.ts'
import { draftNodes } from './node-drafts.ts'
import type { PointerDraft } from './pointer-drafts.ts'
import type { SetDraft } from './set-drafts.ts'
import { SetPlaces } from './set-places.ts'
import { formOf, UnitTargets } from './unit-targets.ts'

/** A shard, and the namespaces in it by their number, as they are needed to change it. */
export type BuiltShard = { readonly bytes: Uint8Array; readonly namespaces: readonly string[] }

/**
 * Builds one shard from all entries that belong to it.
 * @throws {SnapshotError} when it would be over 256 MiB or hold over 16,383 namespaces
 */
export function buildShard(entries: Iterable<ZoneEntry>): BuiltShard {
  const { nodes, pointers4, pointers6 } = draftNodes(entries)
  const namespaces = new Set<string>()
  for (const drafts of [nodes, pointers4, pointers6]) {
    for (const { namespace } of drafts) namespaces.add(namespace)
  }
  const plan = planIndex(nodes.length, (seed) => hashOwners(nodes, seed))
  const writer = new ShardWriter(sortedNamespaces(namespaces), plan)
  writer.writeNodes(nodes)
  writer.endNodes()
  const rows4 = new AddressRows()
  for (const pointer of pointers4) writer.writePointer(pointer, rows4)
  const rows6 = new AddressRows()
  for (const pointer of pointers6) writer.writePointer(pointer, rows6)
  return writer.finish(rows4, rows6)
}

/** Puts namespaces in the order of their numbers. @throws {SnapshotError} when they are too many */
export function sortedNamespaces(namespaces: ReadonlySet<string>): string[] {
  const others = [...namespaces].filter((namespace) => namespace !== '')
  return limitNamespaces(['', ...others.sort()])
}

/** Returns namespaces with '' before them as they are. @throws {SnapshotError} when too many */
export function limitNamespaces(namespaces: string[]): string[] {
  const count = namespaces.length - 1
  if (count <= NAMESPACES_MAX) return namespaces
  throw new SnapshotError(`Cannot build shard: ${count} namespaces, at most ${NAMESPACES_MAX}`)
}

function hashOwners(nodes: readonly NodeDraft[], seed: number): Int32Array {
  const hashes = new Int32Array(nodes.length)
  for (const [i, { owner }] of nodes.entries()) hashes[i] = hashName(owner, owner.length, seed)
  return hashes
}

/** A shard in the making: its sections are appended in the order of the header. */
export class ShardWriter {
  /** What is written so far. */
  readonly out: ByteBuffer = new ByteBuffer()
  private readonly header = new Int32Array(SHARD_HEADER_BYTES / 4)
  private readonly namespaces: readonly string[]
  /** The number that was asked for last: most of what follows is of the same namespace. */
  private namespaceId = 0
  private readonly plan: IndexPlan
  /** Offsets of the nodes so far, in the order of the plan. */
  readonly nodeOffsets: Int32Array
  private nodeCount = 0
  /** Sets of the unit at hand. */
  private readonly places = new SetPlaces()

  constructor(namespaces: readonly string[], plan: IndexPlan) {
    this.namespaces = namespaces
    this.plan = plan
    this.nodeOffsets = new Int32Array(plan.hashes.length)
    const { header, out } = this
    out.reserve(SHARD_HEADER_BYTES)
    header[HEADER.SLOTS] = out.reserve(SLOT_BYTES * plan.slotCount)
    header[HEADER.SLOT_COUNT] = plan.slotCount
    header[HEADER.SEED] = plan.seed
    header[HEADER.NODES] = out.size
  }

  /** Notes that the next node of the plan begins at an offset. */
  addNode(offset: number): void {
    this.nodeOffsets[this.nodeCount++] = offset
  }

  /**
   * Writes nodes, whole units, each with its sets behind it: who finds a name reads on where it is.
   */
  writeNodes(nodes: readonly NodeDraft[]): void {
    for (let at = 0; at < nodes.length; ) {
      const unit = nodes[at]?.unit
      let end = at + 1
      while (end < nodes.length && nodes[end]?.unit === unit) end++
      this.writeUnit(nodes.slice(at, end))
      at = end
    }
  }

  /** Ends the nodes; the index leads to them. */
  endNodes(): void {
    const { header, out, plan } = this
    header[HEADER.NODE_COUNT] = this.nodeCount
    header[HEADER.SETS] = out.size
    const slots = word(header, HEADER.SLOTS)
    const placed = placeNames(plan)
    for (let slot = 0; slot < placed.length; slot++) {
      const number = word(placed, slot)
      if (number === 0) continue
      out.put32(slots + SLOT_BYTES * slot, word(plan.hashes, number - 1))
      out.put32(slots + SLOT_BYTES * slot + 4, word(this.nodeOffsets, number - 1))
    }
  }

  /** Writes the set of a pointer, and adds its row. */
  writePointer(
    { address, namespace, set, isPod, isYielding }: PointerDraft,
    rows: AddressRows,
  ): void {
    const marks = (isPod ? POD_BIT : 0) | (isYielding ? YIELDING_BIT : 0)
    const owner = this.idOf(namespace) | marks
    if (set === undefined) {
      rows.add(address, 0, owner)
      return
    }
    const offset = this.reserveSet(set, FORM.PARTS)
    this.out.put32(offset, (FORM.PARTS << 24) | set.ttlSeconds)
    this.writeItems(offset + 4, FORM.PARTS, set.rdata)
    rows.add(address, offset, owner | (set.rdata.length << 16))
  }

  /** Writes the set of a pointer with one target, a part of some bytes. Returns its offset. */
  writeTarget(
    ttlSeconds: number,
    octets: Uint8Array,
    { start, end }: { readonly start: number; readonly end: number },
  ): number {
    const { out } = this
    const offset = out.reserve(4 + PARTS_BYTES + end - start)
    out.align()
    out.put32(offset, (FORM.PARTS << 24) | Math.min(ttlSeconds, SET_TTL_MAX))
    out.put16(offset + 6, end - start + 1)
    out.put(offset + 4 + PARTS_BYTES, octets, start, end)
    return offset
  }

  /**
   * Writes the tables of addresses, the namespaces and the header.
   * @param namespacesSection the namespaces as they are written, when that is known
   */
  finish(rows4: AddressRows, rows6: AddressRows, namespacesSection?: Uint8Array): BuiltShard {
    const { header, out, namespaces } = this
    header[HEADER.SETS_END] = out.size
    this.writeRows(HEADER.ADDRESS4, rows4)
    this.writeRows(HEADER.ADDRESS6, rows6)
    header[HEADER.NAMESPACES] = out.size
    header[HEADER.NAMESPACE_COUNT] = namespaces.length
    if (namespacesSection === undefined) this.writeNamespaces()
    else out.append(namespacesSection)
    header[HEADER.MAGIC] = MAGIC
    header[HEADER.BYTES] = out.size
    for (let i = 0; i < header.length; i++) out.put32(4 * i, word(header, i))
    return { bytes: out.bytes.slice(0, out.size), namespaces }
  }

  /** Writes three columns: addresses, offsets of their sets, namespace and number of records. */
  private writeRows(field: number, { count, parts, sets, infos }: AddressRows): void {
    this.header[field] = this.out.size
    this.header[field + 1] = count
    for (const column of [parts, sets, infos]) for (const value of column) this.out.append32(value)
  }

  /** Writes the namespaces in UTF-8, each behind its size. */
  private writeNamespaces(): void {
    for (const namespace of this.namespaces) {
      const text = utf8Of(namespace)
      this.out.append16(text.length)
      this.out.append(text)
    }
    this.out.align()
  }

  /** All nodes get their places first, as SRV records lead to them. */
  private writeUnit(nodes: readonly NodeDraft[]): void {
    const { out, places } = this
    const targets = new UnitTargets(nodes)
    places.clear()
    const sets: SetDraft[] = []
    for (const node of nodes) {
      node.offset = out.reserve(NODE_BYTES + SET_REF_BYTES * node.sets.length + node.owner.length)
      out.align()
      this.addNode(node.offset)
      for (const set of node.sets) {
        const same = places.find(set)
        set.offset = same?.offset ?? this.reserveSet(set, formOf(set, targets))
        if (same === undefined) sets.push(set)
      }
    }
    for (const { form, offset, ttlSeconds, rdata } of sets) {
      out.put32(offset, (form << 24) | ttlSeconds)
      if (form === FORM.TARGETS) this.writeTargets(offset + 4, rdata, targets)
      else this.writeItems(offset + 4, form, rdata)
    }
    for (const node of nodes) this.writeNode(node)
  }

  private writeNode(node: NodeDraft): void {
    const { owner, sets, offset, namespace } = node
    if (sets.length > SETS_PER_NODE_MAX) {
      throw new SnapshotError(`Cannot build shard: ${sets.length} types at one name`)
    }
    const { out } = this
    const flag = node.hasAddressNames ? ADDRESS_NAMES_BIT : 0
    out.put16(offset, owner.length | ((sets.length | flag) << 8))
    const marks = (node.isImplied ? IMPLIED_BIT : 0) | (node.isGlue ? GLUE_BIT : 0)
    out.put16(offset + 2, this.idOf(namespace) | marks)
    let ref = offset + NODE_BYTES
    for (const set of sets) {
      out.put16(ref, set.type)
      out.put16(ref + 2, set.rdata.length)
      out.put32(ref + 4, set.offset)
      ref += SET_REF_BYTES
    }
    out.put(ref, owner)
  }

  /** The number of a namespace of the shard. */
  idOf(namespace: string): number {
    const { namespaces } = this
    if (namespaces[this.namespaceId] !== namespace) this.namespaceId = namespaces.indexOf(namespace)
    return this.namespaceId
  }

  private reserveSet(set: SetDraft, form: number): number {
    const { out } = this
    const { rdata } = set
    let size = 4
    if (form === FORM.TARGETS) size += TARGET_BYTES * rdata.length
    else {
      const more = form === FORM.PARTS ? PARTS_BYTES : 0
      for (const { bytes, target } of rdata) size += more + bytes.length + (target?.length ?? 0)
    }
    set.form = form
    set.offset = out.reserve(size)
    out.align()
    return set.offset
  }

  private writeTargets(offset: number, rdata: readonly Rdata[], nodes: UnitTargets): void {
    const { out } = this
    const seen = rdata.length > 1 ? new Set<number>() : undefined
    let at = offset
    for (const { bytes, target } of rdata) {
      const node = nodes.find(target ?? EMPTY)?.offset ?? 0
      out.put(at, bytes)
      out.put16(at + 6, seen?.has(node) === true ? 1 : 0)
      out.put32(at + 8, node)
      seen?.add(node)
      at += TARGET_BYTES
    }
  }

  private writeItems(offset: number, form: number, rdata: readonly Rdata[]): void {
    const { out } = this
    let at = offset
    for (const { bytes, target } of rdata) {
      if (form === FORM.PARTS) {
        out.put16(at, bytes.length)
        out.put16(at + 2, target === undefined ? 0 : target.length + 1)
        at += PARTS_BYTES
      }
      out.put(at, bytes)
      at += bytes.length
      if (target === undefined) continue
      out.put(at, target)
      at += target.length
    }
  }
}

/** Most namespaces are ASCII, which takes no encoder. */
function utf8Of(namespace: string): Uint8Array {
  const bytes = new Uint8Array(namespace.length)
  for (let i = 0; i < namespace.length; i++) {
    const code = namespace.charCodeAt(i)
    if (code >= 0x80) return new TextEncoder().encode(namespace)
    bytes[i] = code
  }
  return bytes
}
