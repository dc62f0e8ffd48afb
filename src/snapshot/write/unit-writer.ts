/**
 * Writes one unit's nodes with their RRsets into a shard. Nothing outside of the unit points into
 * these bytes, and they point nowhere else, so that a patch can copy them.
 * @module
 */
import { EMPTY } from '../../dns/bytes/bytes.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import {
  ADDRESS_NAMES_BIT,
  FORM,
  GLUE_BIT,
  IMPLIED_BIT,
  NODE_BYTES,
  PARTS_BYTES,
  SET_REF_BYTES,
  SETS_PER_NODE_MAX,
  SnapshotError,
  TARGET_BYTES,
} from '../format/layout.ts'
import type { Rdata } from '../records/zone-entry.ts'
import type { ByteBuffer } from './byte-buffer.ts'
import { type NodeDraft, NodeTable } from './node-draft.ts'
import { isSameSet, type SetDraft, setHash } from './set-drafts.ts'

/** Nodes of a unit that are searched one by one rather than through a table. */
const FEW = 16

/** Writes units, one after the other. */
export class UnitWriter {
  private readonly out: ByteBuffer
  private readonly namespaceId: (namespace: string) => number
  private readonly same = new SameSets()

  /** @param namespaceId returns a namespace's number in the shard */
  constructor(out: ByteBuffer, namespaceId: (namespace: string) => number) {
    this.out = out
    this.namespaceId = namespaceId
  }

  /** Writes all nodes of a unit and sets their offsets. @throws {SnapshotError} over 127 types */
  write(nodes: readonly NodeDraft[]): void {
    const { out, same } = this
    const targets = new UnitTargets(nodes)
    same.clear()
    const sets: SetDraft[] = []
    // All nodes get their offsets first, because SRV records point to them.
    for (const node of nodes) {
      node.offset = out.reserve(NODE_BYTES + SET_REF_BYTES * node.sets.length + node.owner.length)
      out.align()
      for (const set of node.sets) {
        const known = same.find(set)
        set.offset = known?.offset ?? reserveSet(out, set, formOf(set, targets))
        if (known === undefined) sets.push(set)
      }
    }
    for (const set of sets) {
      if (set.form === FORM.TARGETS) this.writeTargets(set, targets)
      else writeSet(out, set)
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
    out.put16(offset + 2, this.namespaceId(namespace) | marks)
    let ref = offset + NODE_BYTES
    for (const set of sets) {
      out.put16(ref, set.type)
      out.put16(ref + 2, set.rdata.length)
      out.put32(ref + 4, set.offset)
      ref += SET_REF_BYTES
    }
    out.put(ref, owner)
  }

  private writeTargets({ offset, ttlSeconds, rdata }: SetDraft, targets: UnitTargets): void {
    const { out } = this
    out.put32(offset, (FORM.TARGETS << 24) | ttlSeconds)
    const seen = rdata.length > 1 ? new Set<number>() : undefined
    let at = offset + 4
    for (const { bytes, target } of rdata) {
      const node = targets.find(target ?? EMPTY)?.offset ?? 0
      out.put(at, bytes)
      out.put16(at + 6, seen?.has(node) === true ? 1 : 0)
      out.put32(at + 8, node)
      seen?.add(node)
      at += TARGET_BYTES
    }
  }
}

/** Returns room for an RRset. Sets its form and its offset, and returns the latter. */
export function reserveSet(out: ByteBuffer, set: SetDraft, form: number): number {
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

/** Writes an RRset that is not of form TARGETS where `reserveSet` made room. */
export function writeSet(out: ByteBuffer, { form, offset, ttlSeconds, rdata }: SetDraft): void {
  out.put32(offset, (form << 24) | ttlSeconds)
  let at = offset + 4
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

/** Returns the form that an RRset is written in, in a unit with these nodes. */
export function formOf({ type, rdata }: SetDraft, targets: UnitTargets): number {
  if (type === TYPE.A || type === TYPE.AAAA) return FORM.FIXED
  if (type !== TYPE.SRV) return FORM.PARTS
  const isHere = ({ target }: Rdata): boolean =>
    target !== undefined && targets.find(target) !== undefined
  return rdata.every(isHere) ? FORM.TARGETS : FORM.PARTS
}

/** The nodes of a unit, which SRV records may point to. */
export class UnitTargets {
  private readonly nodes: readonly NodeDraft[]
  private table: NodeTable | undefined

  constructor(nodes: readonly NodeDraft[]) {
    this.nodes = nodes
  }

  /** Returns the node of a name; `undefined` when the unit has none. */
  find(target: Uint8Array): NodeDraft | undefined {
    const { nodes } = this
    // Most records share the array of their target's labels.
    if (nodes.length <= FEW) for (const node of nodes) if (node.owner === target) return node
    this.table ??= tableOf(nodes)
    return this.table.find(target, 0)
  }
}

function tableOf(nodes: readonly NodeDraft[]): NodeTable {
  const table = new NodeTable()
  table.clear(nodes.length)
  for (const node of nodes) table.add(node)
  return table
}

/** The RRsets of a unit, so that equal ones are written once. */
export class SameSets {
  /** The first set with each hash; a later set with the same hash is not found again. */
  private readonly sets = new Map<number, SetDraft>()

  /** Removes all sets. */
  clear(): void {
    this.sets.clear()
  }

  /** Returns an earlier set with the same records in the same order, or adds this one. */
  find(set: SetDraft): SetDraft | undefined {
    const hash = setHash(set)
    const known = this.sets.get(hash)
    if (known !== undefined) return isSameSet(known, set) ? known : undefined
    this.sets.set(hash, set)
    return undefined
  }
}
