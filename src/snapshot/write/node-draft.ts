/**
 * A name that is not yet written, and its order among others.
 * @module
 */
import { byteAt, equalBytes, toLatin1, word } from '../../dns/bytes/bytes.ts'
import { hashByteRange } from '../format/name-hash.ts'
import type { SetDraft } from './set-drafts.ts'

/** A name with its RRsets, sorted by type. */
export class NodeDraft {
  readonly owner: Uint8Array
  /** Its unit (`nameKey`). */
  readonly unit: number
  /** Offset of its unit's labels, and of the label before these; 0 if there is none. */
  readonly unitStart: number
  private readonly topStart: number
  namespace: string
  hasAddressNames: boolean = false
  isImplied: boolean = true
  isGlue: boolean = true
  /** One for each type. */
  sets: readonly SetDraft[] = []
  /** Its offset in the shard; 0 until space is reserved. */
  offset: number = 0
  private ownKey: string | undefined

  constructor(owner: Uint8Array, namespace: string, place: UnitPlace) {
    this.owner = owner
    this.namespace = namespace
    this.unit = place.unit
    this.unitStart = place.unitStart
    let top = 0
    for (let next = 0; next < this.unitStart; next += byteAt(owner, next) + 1) top = next
    this.topStart = top
  }

  /** Returns the sort key: the labels from the last to the first, as Latin-1 text. */
  get key(): string {
    this.ownKey ??= endKey(this.owner)
    return this.ownKey
  }

  /** Returns what `compareNodes` does, for a node of the same unit. */
  compareInUnit(other: NodeDraft): number {
    if (this.unitStart === 0 || other.unitStart === 0) return this.unitStart - other.unitStart
    // Most differ in the label right below the unit's name. Its first byte is its length.
    const { owner, topStart } = this
    const end = this.unitStart - topStart
    for (let i = 0; i < end; i++) {
      const difference = byteAt(owner, topStart + i) - byteAt(other.owner, other.topStart + i)
      if (difference !== 0) return difference
    }
    return compareNodes(this, other)
  }
}

/** The unit of a name, and the offset of its labels. */
type UnitPlace = { readonly unit: number; readonly unitStart: number }

/** Compares nodes by their keys. */
export function compareNodes(a: NodeDraft, b: NodeDraft): number {
  if (a.key === b.key) return 0
  return a.key < b.key ? -1 : 1
}

/** Returns the key of a name (`NodeDraft.key`). It starts with the key of the name above. */
export function endKey(owner: Uint8Array): string {
  const reversed = new Uint8Array(owner.length)
  for (let at = 0; at < owner.length; ) {
    const next = at + 1 + byteAt(owner, at)
    const start = owner.length - next
    for (let i = at; i < next; i++) reversed[start + i - at] = byteAt(owner, i)
    at = next
  }
  return toLatin1(reversed)
}

/** Fewest slots of a table; a power of two. */
const SLOTS_LEAST = 64
/** Most slots that a search reads. */
const PROBES_MAX = 32

/** Drafts of nodes by name. */
export class NodeTable {
  /** In the order of `add`. */
  readonly nodes: NodeDraft[] = []
  /** Indexes of nodes from 1, by the hash of the name; 0 for a free slot. */
  private slots = new Int32Array(SLOTS_LEAST)
  /** Nodes that found no slot, by name: crafted collisions stay cheap. */
  private readonly crowded = new Map<string, NodeDraft>()
  /** Number of slots in use. */
  private slotCount = SLOTS_LEAST

  /** Removes all nodes, and reserves space for `count`. */
  clear(count: number): void {
    this.nodes.length = 0
    this.makeRoom(count)
  }

  /** Finds the node whose name is the bytes of `owner` from `start` on. */
  find(owner: Uint8Array, start: number): NodeDraft | undefined {
    const mask = this.slotCount - 1
    let slot = hashByteRange(owner, start, owner.length, 0) & mask
    for (let probe = 0; probe < PROBES_MAX; probe++) {
      const number = word(this.slots, slot)
      if (number === 0) return undefined
      const node = this.nodes[number - 1]
      if (node !== undefined && endsWith(owner, start, node.owner)) return node
      slot = (slot + 1) & mask
    }
    return this.crowded.get(toLatin1(owner.subarray(start)))
  }

  /** Adds a node whose name is new. */
  add(node: NodeDraft): void {
    this.nodes.push(node)
    if (2 * this.nodes.length > this.slotCount) this.makeRoom(this.nodes.length)
    else this.place(node, this.nodes.length)
  }

  private makeRoom(count: number): void {
    this.crowded.clear()
    this.slotCount = SLOTS_LEAST
    while (this.slotCount < 4 * count) this.slotCount *= 2
    if (this.slotCount > this.slots.length) this.slots = new Int32Array(this.slotCount)
    else this.slots.fill(0, 0, this.slotCount)
    for (const [i, node] of this.nodes.entries()) this.place(node, i + 1)
  }

  private place(node: NodeDraft, number: number): void {
    const { owner } = node
    const mask = this.slotCount - 1
    let slot = hashByteRange(owner, 0, owner.length, 0) & mask
    for (let probe = 0; probe < PROBES_MAX; probe++) {
      if (this.slots[slot] === 0) {
        this.slots[slot] = number
        return
      }
      slot = (slot + 1) & mask
    }
    this.crowded.set(toLatin1(owner), node)
  }
}

function endsWith(bytes: Uint8Array, start: number, end: Uint8Array): boolean {
  if (start === 0) return equalBytes(bytes, end)
  if (bytes.length - start !== end.length) return false
  for (let i = 0; i < end.length; i++) if (bytes[start + i] !== end[i]) return false
  return true
}
