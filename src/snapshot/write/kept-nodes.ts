/**
 * Nodes that were written already, in the previous shard or in the buffer of a whole build, and are
 * copied as bytes.
 * @module
 */
import { word } from '../../dns/bytes/bytes.ts'
import { FORM, NAMESPACES_MAX, NODE_BYTES, SET_REF_BYTES, TARGET_BYTES } from '../format/layout.ts'
import { hashByteRange } from '../format/name-hash.ts'
import { shardNameKey } from '../format/shard-key.ts'
import type { Shard } from '../read/shard.ts'
import type { ByteBuffer } from './byte-buffer.ts'
import { endKey, type NodeDraft } from './node-draft.ts'
import type { ShardWriter } from './shard-writer.ts'

/** A part of a shard's nodes: kept ones, or drafts. */
export type Piece = Run | { readonly kind: 'new'; readonly nodes: readonly NodeDraft[] }

/** Consecutive kept nodes, by index: from one to before another. */
export type Run = {
  readonly kind: 'kept'
  readonly source: KeptNodes
  readonly from: number
  readonly to: number
}

/** The nodes of a shard: their offsets, rising, and where their RRsets end. */
export type NodeSection = {
  readonly shard: Shard
  readonly starts: Int32Array
  readonly end: number
}

/** Nodes that this writer wrote: with their RRsets they fill their section without gaps. */
export class KeptNodes {
  /** Number of nodes. */
  readonly count: number
  private readonly shard: Shard
  /** Where each begins, rising, and where its unit's next node or the next unit does. */
  private readonly starts: Int32Array
  private readonly ends: Int32Array

  /**
   * @param section its `starts` are taken over
   * @param units are not kept
   */
  constructor({ shard, starts, end }: NodeSection, units: ReadonlySet<number> = new Set()) {
    this.shard = shard
    this.starts = starts
    this.ends = new Int32Array(starts.length)
    let count = 0
    for (let i = 0; i < starts.length; i++) {
      const node = word(starts, i)
      if (units.size > 0 && units.has(unitAt(shard, node))) continue
      this.ends[count] = i + 1 === starts.length ? end : word(starts, i + 1)
      starts[count++] = node
    }
    this.count = count
  }

  /** Sets `used` at the number of each namespace that the nodes have. */
  markNamespaces(used: Uint8Array): void {
    for (let i = 0; i < this.count; i++) used[this.shard.nodeNamespaceId(word(this.starts, i))] = 1
  }

  /** Adds the namespaces of a run to `names`. */
  addNamespaces({ from, to }: Pick<Run, 'from' | 'to'>, names: Set<string>): void {
    const { shard } = this
    for (let i = from; i < to; i++) {
      names.add(shard.namespaces[shard.nodeNamespaceId(word(this.starts, i))] ?? '')
    }
  }

  /** Merges these nodes with drafts, sorted. */
  mergeWith(nodes: readonly NodeDraft[]): Piece[] {
    const pieces: Piece[] = []
    let from = 0
    for (let at = 0; at < nodes.length; ) {
      const to = this.firstFrom(nodes[at]?.key ?? '', from)
      if (to > from) pieces.push({ kind: 'kept', source: this, from, to })
      const next = to < this.count ? this.key(to) : undefined
      let end = at + 1
      while (isBefore(nodes[end], next)) end++
      pieces.push({ kind: 'new', nodes: nodes.slice(at, end) })
      from = to
      at = end
    }
    if (from < this.count) pieces.push({ kind: 'kept', source: this, from, to: this.count })
    return pieces
  }

  /** Returns the hash of a node's name. */
  hash(index: number, seed: number): number {
    const { shard } = this
    const node = word(this.starts, index)
    const start = shard.nameOffset(node)
    return hashByteRange(shard.bytes, start, start + shard.nameBytes(node), seed)
  }

  /**
   * Copies a run with all RRsets. Offsets in these bytes stay within a unit, so that they change by
   * as much as the unit moves.
   */
  copy({ from, to }: Pick<Run, 'from' | 'to'>, writer: ShardWriter): void {
    const { out } = writer
    const isRenumbered = writer.namespaces !== this.shard.namespaces
    for (let i = from; i < to; ) {
      const first = i
      while (i + 1 < to && this.ends[i] === this.starts[i + 1]) i++
      i++
      const start = word(this.starts, first)
      const end = word(this.ends, i - 1)
      const shift = out.size - start
      out.append(this.shard.bytes.subarray(start, end))
      for (let k = first; k < i; k++) {
        const node = word(this.starts, k)
        if (shift !== 0) this.shift(node, shift, out)
        if (isRenumbered) this.renumber(node, shift, writer)
        writer.nodeOffsets.push(node + shift)
      }
    }
  }

  private shift(node: number, shift: number, out: ByteBuffer): void {
    const { shard } = this
    const end = shard.nameOffset(node)
    for (let ref = node + NODE_BYTES; ref < end; ref += SET_REF_BYTES) {
      const set = shard.refSet(ref)
      out.put32(ref + 4 + shift, set + shift)
      if (shard.setForm(set) !== FORM.TARGETS) continue
      for (let i = shard.refCount(ref) - 1; i >= 0; i--) {
        const target = shard.targetNode(set, i)
        out.put32(set + shift + 4 + TARGET_BYTES * i + 8, target + shift)
      }
    }
  }

  private renumber(node: number, shift: number, writer: ShardWriter): void {
    const marked = this.shard.uint16(node + 2)
    const id = writer.idOf(this.shard.namespaces[marked & NAMESPACES_MAX] ?? '')
    writer.out.put16(node + shift + 2, (marked & ~NAMESPACES_MAX) | id)
  }

  /** Returns the first node from `from` on that is not before a key. */
  private firstFrom(key: string, from: number): number {
    let low = from
    let high = this.count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.key(middle) < key) low = middle + 1
      else high = middle
    }
    return low
  }

  private key(index: number): string {
    const { shard } = this
    const node = word(this.starts, index)
    const start = shard.nameOffset(node)
    return endKey(shard.bytes.subarray(start, start + shard.nameBytes(node)))
  }
}

function unitAt(shard: Shard, node: number): number {
  const start = shard.nameOffset(node)
  return shardNameKey(shard.bytes, start, start + shard.nameBytes(node))
}

/** Returns whether there is a node and it sorts before a key; `undefined` is after all. */
export function isBefore(node: NodeDraft | undefined, key: string | undefined): boolean {
  return node !== undefined && (key === undefined || node.key < key)
}
