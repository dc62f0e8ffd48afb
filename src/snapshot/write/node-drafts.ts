/**
 * Merges the entries of one shard into drafts of nodes and pointers. Their order does not depend on
 * that of the entries.
 * @module
 */
import { byteAt } from '../../dns/bytes/bytes.ts'
import { shardNameKey, unitStart } from '../format/shard-key.ts'
import {
  type AddressEntry,
  isByAddress,
  type NamedEntry,
  type ZoneEntry,
} from '../records/zone-entry.ts'
import { compareNodes, NodeDraft, NodeTable } from './node-draft.ts'
import { draftPointers } from './pointer-drafts.ts'
import { addRdata, finishSet } from './set-drafts.ts'
import type { PointerDraft } from './shard-writer.ts'

/** The input of a shard. */
export type Drafts = {
  /** Sorted by key: the names of a unit are consecutive. */
  readonly nodes: readonly NodeDraft[]
  /** Sorted by address, then by namespace. */
  readonly pointers4: readonly PointerDraft[]
  readonly pointers6: readonly PointerDraft[]
}

/** Drafts the entries of a shard. */
export function draftNodes(entries: Iterable<ZoneEntry>): Drafts {
  const named: NamedEntry[] = []
  const byAddress: AddressEntry[] = []
  for (const entry of entries) {
    if (isByAddress(entry)) byAddress.push(entry)
    else named.push(entry)
  }
  const pointers = draftPointers(byAddress)
  return {
    nodes: new NodeDrafter().draft(named),
    pointers4: pointers.filter(({ address }) => address.length === 4),
    pointers6: pointers.filter(({ address }) => address.length === 16),
  }
}

/** Drafts nodes. */
export class NodeDrafter {
  private readonly table = new NodeTable()
  /** The last node, and whether all are of its unit. */
  private last: NodeDraft | undefined
  private isOneUnit = true

  /**
   * Merges the entries of each name and sorts the names. Removes duplicate records, and those over
   * 65,535 of a type, far more than a message can carry. An RRset without rdata gives a name
   * without records. A name with entries of several namespaces belongs to none of them, so that all
   * clients see it.
   */
  draft(entries: readonly NamedEntry[]): NodeDraft[] {
    this.table.clear(entries.length)
    this.last = undefined
    this.isOneUnit = true
    let node: NodeDraft | undefined
    for (const entry of entries) {
      // The entries of a name are mostly consecutive.
      if (node?.owner !== entry.owner || node.namespace !== entry.namespace) {
        node = this.nodeAt(entry.owner, entry.namespace)
      }
      addToNode(node, entry)
    }
    this.addNamesAbove()
    const nodes = [...this.table.nodes]
    for (const { sets } of nodes) for (const set of sets) finishSet(set)
    return nodes.sort(this.isOneUnit ? (a, b) => a.compareInUnit(b) : compareNodes)
  }

  private nodeAt(owner: Uint8Array, namespace: string): NodeDraft {
    const known = this.table.find(owner, 0)
    if (known === undefined) return this.add(owner, namespace)
    if (known.namespace !== namespace) known.namespace = ''
    return known
  }

  private add(owner: Uint8Array, namespace: string): NodeDraft {
    const start = unitStart(owner)
    const { last } = this
    let unit = last?.unit ?? 0
    if (last === undefined || !isSameUnit(last, owner, start)) {
      this.isOneUnit &&= last === undefined
      unit = shardNameKey(owner, 0, owner.length)
    }
    const node = new NodeDraft(owner, namespace, { unit, unitStart: start })
    this.table.add(node)
    this.last = node
    return node
  }

  /** Adds the missing names of each unit above other names (RFC 8020 §2). */
  private addNamesAbove(): void {
    const { nodes } = this.table
    const count = nodes.length
    let above: NodeDraft | undefined
    for (let i = 0; i < count; i++) {
      const node = nodes[i]
      if (node === undefined) continue
      // Most names share their parent.
      const isSeenTo = above !== undefined && isRightBelow(node, above)
      if (!isSeenTo || above?.namespace !== node.namespace) above = this.addAbove(node) ?? above
    }
  }

  /** Adds the names above one in its unit. Returns its parent, if that is in the unit. */
  private addAbove({ owner, namespace, unitStart: end }: NodeDraft): NodeDraft | undefined {
    let first: NodeDraft | undefined
    for (let at = 0; at < end; ) {
      at += byteAt(owner, at) + 1
      const known = this.table.find(owner, at)
      const above = known ?? this.add(owner.slice(at), namespace)
      first ??= above
      above.isGlue = false
      // The loop in `addNamesAbove` handles the names above a known one.
      if (known?.namespace === namespace) return first
      if (above.namespace !== namespace) above.namespace = ''
    }
    return first
  }
}

function isSameUnit(node: NodeDraft, owner: Uint8Array, start: number): boolean {
  const size = owner.length - start
  const other = node.unitStart
  if (node.owner.length - other !== size) return false
  for (let i = 0; i < size; i++) if (owner[start + i] !== node.owner[other + i]) return false
  return true
}

/** Returns whether a node is one label below another. */
function isRightBelow({ owner, unitStart: end }: NodeDraft, { owner: above }: NodeDraft): boolean {
  const start = byteAt(owner, 0) + 1
  if (end === 0 || owner.length - start !== above.length) return false
  for (let i = 0; i < above.length; i++) if (owner[start + i] !== above[i]) return false
  return true
}

/** Adds an entry. One is enough to make a name more than implied, or more than glue. */
function addToNode(node: NodeDraft, entry: NamedEntry): void {
  if (entry.kind === 'address-names') node.hasAddressNames = true
  if (entry.kind !== 'name' || entry.isImplied !== true) node.isImplied = false
  if (entry.kind !== 'records' || entry.isGlue !== true) node.isGlue = false
  if (entry.kind === 'records' && entry.rdata.length > 0) node.sets = addRdata(node.sets, entry)
}
