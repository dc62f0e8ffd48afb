/**
 * The nodes of a shard that stay when some units of it are replaced.
 * @module
 */
import { word } from '../../bytes/bytes.ts'
import { FORM, NAMESPACES_MAX, NODE_BYTES, SET_REF_BYTES, TARGET_BYTES } from '../format/layout.ts'
import { hashByteRange } from '../format/name-hash.ts'
import { nameKey } from '../format/shard-key.ts'
import type { Shard } from '../read/shard.ts'
import type { ByteBuffer } from './byte-buffer.ts'
import { endKey, type NodeDraft } from './node-draft.ts'
import type { ShardWriter } from './shard-writer.ts'

/** Kept nodes from one to before another, by their places; or new ones between them. */
export type Piece = KeptPiece | { readonly kind: 'new'; readonly nodes: readonly NodeDraft[] }

/** Some nodes of a shard. */
export type KeptPiece = {
  readonly kind: 'kept'
  readonly source: KeptNodes
  readonly from: number
  readonly to: number
}

/** All nodes of a shard that this build wrote. */
export type NodeSection = {
  readonly shard: Shard
  readonly starts: Int32Array
  readonly end: number
}

/** Nodes of a shard that this build wrote: they and their sets fill their section without gaps. */
export class KeptNodes {
  /** Number of nodes. */
  readonly count: number
  private readonly shard: Shard
  /** Where each begins, rising, and where what stands behind it does. */
  private readonly starts: Int32Array
  private readonly ends: Int32Array

  /**
   * @param starts where the nodes begin, rising; is taken over
   * @param end where they and their sets end
   * @param units what is replaced
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

  /** Marks the numbers of the namespaces that these nodes are of. */
  markNamespaces(used: Uint8Array): void {
    for (let i = 0; i < this.count; i++) used[this.shard.nodeNamespaceId(word(this.starts, i))] = 1
  }

  /** Adds the namespaces of some of the nodes. */
  addNamespaces(
    { from, to }: { readonly from: number; readonly to: number },
    into: Set<string>,
  ): void {
    const { shard } = this
    for (let i = from; i < to; i++) {
      into.add(shard.namespaces[shard.nodeNamespaceId(word(this.starts, i))] ?? '')
    }
  }

  /** The namespaces by the numbers that these nodes have them. */
  get namespaces(): readonly string[] {
    return this.shard.namespaces
  }

  /** Joins new nodes, sorted, to these, so that all are. */
  mergeWith(nodes: readonly NodeDraft[]): Piece[] {
    const pieces: Piece[] = []
    let from = 0
    for (let at = 0; at < nodes.length; ) {
      const to = this.firstBehind(nodes[at]?.key ?? '', from)
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

  /** The hash of a node's name. */
  hash(index: number, seed: number): number {
    const { shard } = this
    const node = word(this.starts, index)
    const start = shard.nameOffset(node)
    return hashByteRange(shard.bytes, start, start + shard.nameBytes(node), seed)
  }

  /**
   * Copies a piece with all sets. What leads from these nodes to others or to sets stays within a
   * unit, and moves as far as they do.
   * @param writer has its nodes up to these
   * @param isRenumbered whether the namespaces have other numbers there
   */
  copy(
    { from, to }: { readonly from: number; readonly to: number },
    writer: ShardWriter,
    isRenumbered: boolean,
  ): void {
    const { out } = writer
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
        writer.addNode(node + shift)
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

  /** The first node from `from` on that is behind a key. */
  private firstBehind(key: string, from: number): number {
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
  return nameKey(shard.bytes, start, start + shard.nameBytes(node))
}

/** Whether there is a node that is sorted before a key; `undefined` is behind all. */
export function isBefore(node: NodeDraft | undefined, key: string | undefined): boolean {
  return node !== undefined && (key === undefined || node.key < key)
}
