/**
 * A hash table of drafts of nodes by name.
 * @module
 */
import { equalBytes, toLatin1, word } from '../../bytes/bytes.ts'
import { hashByteRange } from '../format/name-hash.ts'
import type { NodeDraft } from './node-draft.ts'

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
