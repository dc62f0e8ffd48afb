/**
 * Sorts the entries of one shard into nodes and pointers, in an order that does not depend on
 * theirs.
 * @module
 */
import { octet, toLatin1 } from '../dns/bytes.ts'
import {
  isByAddress,
  type PodAddress,
  type Pointer,
  type ZoneEntry,
} from '../records/zone-entry.ts'
import { draftPointers, type PointerDraft } from './pointer-drafts.ts'
import { finishSet, type SetDraft } from './set-drafts.ts'
import { nameKey, UNIT_LABELS } from './shard-key.ts'

/** One name. */
export type NodeDraft = {
  readonly owner: Uint8Array
  /** What nodes are sorted by: the labels from the last to the first, as Latin-1 text. */
  readonly key: string
  /** What it may share sets with (`nameKey`). */
  readonly unit: number
  scope: string
  hasAddressNames: boolean
  isImplied: boolean
  isGlue: boolean
  /** One for each type. */
  readonly sets: SetDraft[]
  /** Where it stands in the shard; 0 until there is room for it. */
  offset: number
}

/** What a shard is written from. */
export type Drafts = {
  /** Sorted so that names with a common end stand together. */
  readonly nodes: readonly NodeDraft[]
  /** Sorted by address, then by namespace. */
  readonly pointers4: readonly PointerDraft[]
  readonly pointers6: readonly PointerDraft[]
}

/**
 * Merges the entries of each name and puts all in order. A type's records are made unique; over
 * 65,535 of them the rest is left out, far beyond what a message can carry. Records without any
 * rdata make a name and no set. A name that entries of several namespaces share belongs to all.
 */
export function draftNodes(entries: Iterable<ZoneEntry>): Drafts {
  const nodes = new Map<string, NodeDraft>()
  const byAddress: (Pointer | PodAddress)[] = []
  let node: NodeDraft | undefined
  for (const entry of entries) {
    if (isByAddress(entry)) {
      byAddress.push(entry)
      continue
    }
    // What stands at one name comes one after the other, mostly.
    if (node?.owner !== entry.owner || node.scope !== entry.scope) {
      node = draftNode(nodes, entry.owner, entry.scope)
    }
    addToNode(node, entry)
  }
  const drafts = [...nodes.values()]
  for (const draft of drafts) addNamesAbove(nodes, draft)
  for (const { sets } of drafts) for (const set of sets) finishSet(set)
  const pointers = draftPointers(byAddress)
  return {
    nodes: [...nodes.values()].sort((a, b) => (a.key < b.key ? -1 : 1)),
    pointers4: pointers.filter(({ address }) => address.length === 4),
    pointers6: pointers.filter(({ address }) => address.length === 16),
  }
}

/** Makes the names above a name exist that are of its unit (RFC 8020 §2). */
function addNamesAbove(nodes: Map<string, NodeDraft>, { owner, key, scope }: NodeDraft): void {
  let left = labelCount(owner) - 1
  for (let at = octet(owner, 0) + 1; left >= UNIT_LABELS; at += octet(owner, at) + 1) {
    const known = nodes.get(key.slice(0, owner.length - at))
    const above = known ?? draftNode(nodes, owner.slice(at), scope)
    above.isGlue = false
    // What is above one that was known is, or will be, seen to by itself.
    if (known?.scope === scope) return
    if (above.scope !== scope) above.scope = ''
    left--
  }
}

function labelCount(owner: Uint8Array): number {
  let count = 0
  for (let at = 0; at < owner.length; at += octet(owner, at) + 1) count++
  return count
}

function draftNode(nodes: Map<string, NodeDraft>, owner: Uint8Array, scope: string): NodeDraft {
  const key = endKey(owner)
  const known = nodes.get(key)
  if (known !== undefined) {
    if (known.scope !== scope) known.scope = ''
    return known
  }
  const flags = { hasAddressNames: false, isImplied: true, isGlue: true }
  const unit = nameKey(owner, 0, owner.length)
  const node: NodeDraft = { owner, key, unit, scope, ...flags, sets: [], offset: 0 }
  nodes.set(key, node)
  return node
}

/** One entry of its own is enough for a name to be more than implied, or more than glue. */
function addToNode(node: NodeDraft, entry: Exclude<ZoneEntry, Pointer | PodAddress>): void {
  if (entry.kind === 'address-names') node.hasAddressNames = true
  if (entry.kind !== 'name' || entry.isImplied !== true) node.isImplied = false
  if (entry.kind !== 'records' || entry.isGlue !== true) node.isGlue = false
  if (entry.kind !== 'records' || entry.rdata.length === 0) return
  const set = node.sets.find(({ type }) => type === entry.type)
  if (set === undefined) {
    const { type, ttlSeconds } = entry
    node.sets.push({ type, ttlSeconds, rdata: [...entry.rdata], isMerged: false })
    return
  }
  set.isMerged = true
  set.ttlSeconds = Math.min(set.ttlSeconds, entry.ttlSeconds)
  set.rdata.push(...entry.rdata)
}

/** The key of a name (`NodeDraft`). The keys of what is above it begin it. */
export function endKey(owner: Uint8Array): string {
  const reversed = new Uint8Array(owner.length)
  for (let at = 0; at < owner.length; ) {
    const next = at + 1 + octet(owner, at)
    const start = owner.length - next
    for (let i = at; i < next; i++) reversed[start + i - at] = octet(owner, i)
    at = next
  }
  return toLatin1(reversed)
}
