/**
 * Sorts the entries of one shard into nodes and pointers, in an order that does not depend on
 * theirs.
 * @module
 */
import { compareBytes, octet, toLatin1 } from '../dns/bytes.ts'
import { TYPE } from '../dns/rr-type.ts'
import {
  isByAddress,
  type PodAddress,
  type Pointer,
  type Rdata,
  type ZoneEntry,
} from '../records/zone-entry.ts'
import { RECORDS_PER_SET_MAX, SET_TTL_MAX } from './layout.ts'
import { nameKey } from './shard-key.ts'

/** One type at a name. `isMerged`: from several entries, so that their order means nothing. */
export type SetDraft = {
  readonly type: number
  ttlSeconds: number
  rdata: Rdata[]
  isMerged: boolean
}

/** One name. */
export type NodeDraft = {
  readonly owner: Uint8Array
  /** The owner as Latin-1 text. */
  readonly key: string
  /** What it may share sets with (`nameKey`). */
  readonly unit: number
  scope: string
  hasAddressNames: boolean
  isImplied: boolean
  isGlue: boolean
  readonly sets: Map<number, SetDraft>
  /** Where it stands in the shard; 0 until there is room for it. */
  offset: number
}

/** The targets of one address in one namespace, if any, and whether a Pod there has the address. */
export type PointerDraft = {
  readonly address: Uint8Array
  readonly scope: string
  set: SetDraft | undefined
  isPod: boolean
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
  const pointers = new Map<string, PointerDraft>()
  const yielding: Pointer[] = []
  const taken = new Set<string>()
  for (const entry of entries) {
    if (!isByAddress(entry)) addToNode(draftNode(nodes, entry.owner, entry.scope), entry)
    else if (entry.kind === 'pod-address') draftPointer(pointers, entry).isPod = true
    else if (entry.isYielding === true) yielding.push(entry)
    else {
      taken.add(toLatin1(entry.address))
      addPointer(pointers, entry)
    }
  }
  for (const entry of yielding) {
    if (!taken.has(toLatin1(entry.address))) addPointer(pointers, entry)
  }
  const drafts = [...nodes.values()]
  for (const node of drafts) for (const set of node.sets.values()) finishSet(set)
  for (const { set } of pointers.values()) if (set !== undefined) finishSet(set)
  const sorted = [...pointers.values()].sort(comparePointers)
  return {
    nodes: sortByEnd(drafts),
    pointers4: sorted.filter(({ address }) => address.length === 4),
    pointers6: sorted.filter(({ address }) => address.length === 16),
  }
}

function draftNode(nodes: Map<string, NodeDraft>, owner: Uint8Array, scope: string): NodeDraft {
  const key = toLatin1(owner)
  const known = nodes.get(key)
  if (known !== undefined) {
    if (known.scope !== scope) known.scope = ''
    return known
  }
  const flags = { hasAddressNames: false, isImplied: true, isGlue: true }
  const unit = nameKey(owner, 0, owner.length)
  const node: NodeDraft = { owner, key, unit, scope, ...flags, sets: new Map(), offset: 0 }
  nodes.set(key, node)
  return node
}

/** One entry of its own is enough for a name to be more than implied, or more than glue. */
function addToNode(node: NodeDraft, entry: Exclude<ZoneEntry, Pointer | PodAddress>): void {
  if (entry.kind === 'address-names') node.hasAddressNames = true
  if (entry.kind !== 'name' || entry.isImplied !== true) node.isImplied = false
  if (entry.kind !== 'records' || entry.isGlue !== true) node.isGlue = false
  if (entry.kind !== 'records' || entry.rdata.length === 0) return
  const set = node.sets.get(entry.type)
  if (set === undefined) {
    const { type, ttlSeconds } = entry
    node.sets.set(type, { type, ttlSeconds, rdata: [...entry.rdata], isMerged: false })
    return
  }
  set.isMerged = true
  set.ttlSeconds = Math.min(set.ttlSeconds, entry.ttlSeconds)
  set.rdata.push(...entry.rdata)
}

function addPointer(pointers: Map<string, PointerDraft>, entry: Pointer): void {
  const { ttlSeconds, target } = entry
  const rdata: Rdata = { bytes: new Uint8Array(0), target }
  const draft = draftPointer(pointers, entry)
  if (draft.set === undefined) {
    draft.set = { type: TYPE.PTR, ttlSeconds, rdata: [rdata], isMerged: false }
    return
  }
  draft.set.ttlSeconds = Math.min(draft.set.ttlSeconds, ttlSeconds)
  draft.set.rdata.push(rdata)
}

function draftPointer(
  pointers: Map<string, PointerDraft>,
  { address, scope }: Pointer | PodAddress,
): PointerDraft {
  const key = `${toLatin1(address)}/${scope}`
  const known = pointers.get(key)
  if (known !== undefined) return known
  const draft: PointerDraft = { address, scope, set: undefined, isPod: false }
  pointers.set(key, draft)
  return draft
}

/**
 * Makes records unique. Addresses, pointers and what several entries gave are put in order, the
 * rest stays as it came.
 */
function finishSet(set: SetDraft): void {
  set.ttlSeconds = Math.min(set.ttlSeconds, SET_TTL_MAX)
  if (set.rdata.length === 1) return
  const unique = new Map(set.rdata.map((rdata) => [rdataKey(rdata), rdata]))
  const { type, isMerged } = set
  const isOrdered = isMerged || type === TYPE.A || type === TYPE.AAAA || type === TYPE.PTR
  const kept = isOrdered ? [...unique.values()].sort(compareRdata) : [...unique.values()]
  set.rdata = kept.slice(0, RECORDS_PER_SET_MAX)
}

function rdataKey({ bytes, target }: Rdata): string {
  return `${toLatin1(bytes)}\n${target === undefined ? '' : `.${toLatin1(target)}`}`
}

function compareRdata(a: Rdata, b: Rdata): number {
  const none = new Uint8Array(0)
  return compareBytes(a.target ?? none, b.target ?? none) || compareBytes(a.bytes, b.bytes)
}

function comparePointers(a: PointerDraft, b: PointerDraft): number {
  return compareBytes(a.address, b.address) || (a.scope < b.scope ? -1 : 1)
}

function sortByEnd(nodes: NodeDraft[]): NodeDraft[] {
  const keyed = nodes.map((node) => ({ node, key: endKey(node.owner, node.key) }))
  keyed.sort((a, b) => (a.key < b.key ? -1 : 1))
  return keyed.map(({ node }) => node)
}

/**
 * What nodes are sorted by: their labels from the last to the first.
 * @param key the owner as Latin-1 text
 */
export function endKey(owner: Uint8Array, key: string): string {
  let reversed = ''
  for (let at = 0; at < owner.length; ) {
    const next = at + 1 + octet(owner, at)
    reversed = key.slice(at, next) + reversed
    at = next
  }
  return reversed
}
