/**
 * The nodes of a shard that stay when some units of it are replaced.
 * @module
 */
import { word } from '../dns/bytes.ts'
import type { ByteBuffer } from './byte-buffer.ts'
import { FORM, HEADER, NODE_BYTES, SCOPES_MAX, SET_REF_BYTES, TARGET_BYTES } from './layout.ts'
import { hashOctets } from './name-hash.ts'
import { endKey, type NodeDraft } from './node-drafts.ts'
import type { Shard } from './shard.ts'
import { nameKey } from './shard-key.ts'
import type { ShardWriter } from './shard-writer.ts'

/** The kept nodes from one to before another, by their places; or new ones between them. */
export type Piece =
  | { readonly kind: 'kept'; readonly from: number; readonly to: number }
  | { readonly kind: 'new'; readonly nodes: readonly NodeDraft[] }

/** Nodes of a shard that this build wrote: they and their sets fill their section without gaps. */
export class KeptNodes {
  /** Number of nodes. */
  readonly count: number
  private readonly shard: Shard
  /** Where each begins, rising, and where what stands behind it does. */
  private readonly starts: Int32Array
  private readonly ends: Int32Array

  /** @param units what is replaced */
  constructor(shard: Shard, units: ReadonlySet<number>) {
    this.shard = shard
    this.starts = shard.nodes()
    this.ends = new Int32Array(this.starts.length)
    let count = 0
    for (let i = 0; i < this.starts.length; i++) {
      const node = word(this.starts, i)
      const start = shard.nameOffset(node)
      if (units.has(nameKey(shard.bytes, start, start + shard.nameBytes(node)))) continue
      const isLast = i + 1 === this.starts.length
      this.ends[count] = isLast ? shard.field(HEADER.SETS) : word(this.starts, i + 1)
      this.starts[count++] = node
    }
    this.count = count
  }

  /** Marks the numbers of the namespaces that these nodes are of. */
  markScopes(used: Uint8Array): void {
    for (let i = 0; i < this.count; i++) used[this.shard.nodeScope(word(this.starts, i))] = 1
  }

  /** Joins new nodes, sorted, to these, so that all are. */
  mergeWith(nodes: readonly NodeDraft[]): Piece[] {
    const pieces: Piece[] = []
    let from = 0
    for (let at = 0; at < nodes.length; ) {
      const to = this.firstBehind(keyAt(nodes, at), from)
      if (to > from) pieces.push({ kind: 'kept', from, to })
      const next = to < this.count ? this.key(to) : undefined
      let end = at + 1
      while (end < nodes.length && (next === undefined || keyAt(nodes, end) < next)) end++
      pieces.push({ kind: 'new', nodes: nodes.slice(at, end) })
      from = to
      at = end
    }
    if (from < this.count) pieces.push({ kind: 'kept', from, to: this.count })
    return pieces
  }

  /** The hash of a node's name. */
  hash(index: number, seed: number): number {
    const { shard } = this
    const node = word(this.starts, index)
    const start = shard.nameOffset(node)
    return hashOctets(shard.bytes, start, start + shard.nameBytes(node), seed)
  }

  /**
   * Copies a piece with all sets. What leads from these nodes to others or to sets stays within a
   * unit, and moves as far as they do.
   * @param writer has its nodes up to these
   * @param scopeIds new numbers of the namespaces; `undefined` when they stay
   */
  copy(
    { from, to }: { readonly from: number; readonly to: number },
    writer: Pick<ShardWriter, 'out' | 'addNode'>,
    scopeIds: Int32Array | undefined,
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
        if (scopeIds !== undefined) this.renumber(node, shift, { out, scopeIds })
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

  private renumber(
    node: number,
    shift: number,
    { out, scopeIds }: { readonly out: ByteBuffer; readonly scopeIds: Int32Array },
  ): void {
    const marked = this.shard.uint16(node + 2)
    out.put16(node + shift + 2, (marked & ~SCOPES_MAX) | word(scopeIds, marked & SCOPES_MAX))
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

function keyAt(nodes: readonly NodeDraft[], index: number): string {
  const node = nodes[index]
  return node === undefined ? '' : endKey(node.owner)
}
