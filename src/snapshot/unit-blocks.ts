/**
 * Shards of many groups at once. What a group says at names is written soon after it was made, some
 * groups at a time, and copied to its shard at last: to keep all entries until then takes several
 * times the memory of the shards.
 * @module
 */
import {
  isByAddress,
  type PodAddress,
  type Pointer,
  type ZoneEntry,
} from '../records/zone-entry.ts'
import { AddressRows } from './address-rows.ts'
import { unitOf } from './group-place.ts'
import { planNoIndex } from './index-plan.ts'
import { joinNodes } from './join-nodes.ts'
import { isBefore, KeptNodes, type KeptPiece, type Piece } from './kept-nodes.ts'
import { draftNodes, type NodeDraft } from './node-drafts.ts'
import { draftPointers } from './pointer-drafts.ts'
import { Shard } from './shard.ts'
import { addressKey } from './shard-key.ts'
import { type BuiltShard, ShardWriter, sortedScopes } from './shard-writer.ts'

/** Entries that are written at a time. */
const ENTRIES_AT_ONCE = 2048

/** A unit's nodes, and what they are sorted by. */
type Block = { readonly piece: KeptPiece; readonly key: string }

/** What has to go into the shards. */
export class UnitBlocks {
  private pending: ZoneEntry[] = []
  private readonly blocks = new Map<number, Block>()
  /** Units that were written in parts. */
  private readonly split = new Set<number>()
  private readonly addresses: (Pointer | PodAddress)[] = []

  /** Adds entries of a group. */
  add(entries: readonly ZoneEntry[]): void {
    for (const entry of entries) {
      if (isByAddress(entry)) this.addresses.push(entry)
      else this.pending.push(entry)
    }
    if (this.pending.length >= ENTRIES_AT_ONCE) this.write()
  }

  /**
   * Builds so many shards, one after the other.
   * @param entriesIn makes all entries of some units
   * @throws {SnapshotError} when one would be too large
   */
  *shards(
    count: number,
    entriesIn: (units: ReadonlySet<number>) => readonly ZoneEntry[],
  ): Generator<BuiltShard> {
    this.write()
    const lots = Array.from({ length: count }, (): Lot => new Lot())
    for (const [unit, block] of this.blocks) {
      if (!this.split.has(unit)) lots[unit & (count - 1)]?.blocks.push(block)
    }
    for (const entry of entriesIn(this.split)) {
      if (!isByAddress(entry)) lots[unitOf(entry) & (count - 1)]?.entries.push(entry)
    }
    for (const entry of this.addresses) {
      lots[addressKey(entry.address) & (count - 1)]?.addresses.push(entry)
    }
    for (const lot of lots) yield lot.build()
  }

  /** Writes what is pending as nodes of a shard, without an index to them. */
  private write(): void {
    const { nodes } = draftNodes(this.pending)
    this.pending = []
    const scopes = sortedScopes(new Set(nodes.map(({ scope }) => scope)))
    const writer = new ShardWriter(scopes, planNoIndex(nodes.length))
    writer.writeNodes(nodes)
    const { nodeOffsets: starts, out } = writer
    const shard = new Shard(out.bytes.slice(0, out.size), scopes)
    const source = new KeptNodes({ shard, starts, end: out.size })
    for (let from = 0; from < nodes.length; ) {
      const { unit = 0, key = '' } = nodes[from] ?? {}
      let to = from + 1
      while (nodes[to]?.unit === unit) to++
      if (this.blocks.has(unit)) this.split.add(unit)
      this.blocks.set(unit, { piece: { kind: 'kept', source, from, to }, key })
      from = to
    }
  }
}

/** What goes into one shard. */
class Lot {
  readonly blocks: Block[] = []
  /** All that split units say. */
  readonly entries: ZoneEntry[] = []
  readonly addresses: (Pointer | PodAddress)[] = []

  build(): BuiltShard {
    const { nodes } = draftNodes(this.entries)
    const pointers = draftPointers(this.addresses)
    const scopes = new Set<string>()
    for (const { piece } of this.blocks) piece.source.addScopes(piece, scopes)
    for (const drafts of [nodes, pointers]) for (const { scope } of drafts) scopes.add(scope)
    const writer = joinNodes(this.pieces(nodes), sortedScopes(scopes))
    const rowsOf = (size: number): AddressRows => {
      const rows = new AddressRows()
      for (const pointer of pointers) {
        if (pointer.address.length === size) writer.writePointer(pointer, rows)
      }
      return rows
    }
    return writer.finish(rowsOf(4), rowsOf(16))
  }

  /** Blocks and new nodes, in order. */
  private pieces(nodes: readonly NodeDraft[]): Piece[] {
    const blocks = this.blocks.sort((a, b) => (a.key < b.key ? -1 : 1))
    const pieces: Piece[] = []
    let at = 0
    const takeBefore = (key: string | undefined): void => {
      const from = at
      while (isBefore(nodes[at], key)) at++
      if (at > from) pieces.push({ kind: 'new', nodes: nodes.slice(from, at) })
    }
    for (const { piece, key } of blocks) {
      takeBefore(key)
      pieces.push(piece)
    }
    takeBefore(undefined)
    return pieces
  }
}
