/**
 * Sorts the entries of one shard into nodes and pointers, in an order that does not depend on
 * theirs.
 * @module
 */
import { byteAt } from '../../bytes/bytes.ts'
import {
  type AddressEntry,
  isByAddress,
  type NamedEntry,
  type ZoneEntry,
} from '../../records/zone-entry.ts'
import { nameKey, unitStart } from '../format/shard-key.ts'
import { compareNodes, NodeDraft } from './node-draft.ts'
import { NodeTable } from './node-table.ts'
import { draftPointers, type PointerDraft } from './pointer-drafts.ts'
import { addRdata, finishSet } from './set-drafts.ts'

/** What a shard is written from. */
export type Drafts = {
  /** Sorted so that names with a common end stand together. */
  readonly nodes: readonly NodeDraft[]
  /** Sorted by address, then by namespace. */
  readonly pointers4: readonly PointerDraft[]
  readonly pointers6: readonly PointerDraft[]
}

/** Drafts all that a shard has. */
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

/** Makes nodes of entries. */
export class NodeDrafter {
  private readonly table = new NodeTable()
  /** The node that was added last, and whether all are of one unit with it. */
  private last: NodeDraft | undefined
  private isOneUnit = true

  /**
   * Merges the entries of each name and puts all in order. A type's records are made unique; over
   * 65,535 of them the rest is left out, far beyond what a message can carry. Records without any
   * rdata make a name and no set. A name that entries of several namespaces share belongs to all.
   */
  draft(entries: readonly NamedEntry[]): NodeDraft[] {
    this.table.clear(entries.length)
    this.last = undefined
    this.isOneUnit = true
    let node: NodeDraft | undefined
    for (const entry of entries) {
      // What stands at one name comes one after the other, mostly.
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
      unit = nameKey(owner, 0, owner.length)
    }
    const node = new NodeDraft(owner, namespace, { unit, unitStart: start })
    this.table.add(node)
    this.last = node
    return node
  }

  /** Makes the names above names exist that are of their unit (RFC 8020 §2). */
  private addNamesAbove(): void {
    const { nodes } = this.table
    const count = nodes.length
    let above: NodeDraft | undefined
    for (let i = 0; i < count; i++) {
      const node = nodes[i]
      if (node === undefined) continue
      // Most names are right below the same one.
      const isSeenTo = above !== undefined && isRightBelow(node, above)
      if (!isSeenTo || above?.namespace !== node.namespace) above = this.addAbove(node) ?? above
    }
  }

  /** Returns the name right above one, when that is of its unit. */
  private addAbove({ owner, namespace, unitStart: end }: NodeDraft): NodeDraft | undefined {
    let first: NodeDraft | undefined
    for (let at = 0; at < end; ) {
      at += byteAt(owner, at) + 1
      const known = this.table.find(owner, at)
      const above = known ?? this.add(owner.slice(at), namespace)
      first ??= above
      above.isGlue = false
      // What is above one that was known is, or will be, seen to by itself.
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

/** Whether the first label is all that a node has more than another one. */
function isRightBelow({ owner, unitStart: end }: NodeDraft, { owner: above }: NodeDraft): boolean {
  const start = byteAt(owner, 0) + 1
  if (end === 0 || owner.length - start !== above.length) return false
  for (let i = 0; i < above.length; i++) if (owner[start + i] !== above[i]) return false
  return true
}

/** One entry of its own is enough for a name to be more than implied, or more than glue. */
function addToNode(node: NodeDraft, entry: NamedEntry): void {
  if (entry.kind === 'address-names') node.hasAddressNames = true
  if (entry.kind !== 'name' || entry.isImplied !== true) node.isImplied = false
  if (entry.kind !== 'records' || entry.isGlue !== true) node.isGlue = false
  if (entry.kind === 'records' && entry.rdata.length > 0) node.sets = addRdata(node.sets, entry)
}
