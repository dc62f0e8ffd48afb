/**
 * Shards of many groups at once. What a group says at names is written soon after it was made, some
 * groups at a time, and copied to its shard at last: to keep all entries until then takes several
 * times the memory of the shards.
 * @module
 */
import { isByAddress, type NamedEntry, type ZoneEntry } from '../../records/zone-entry.ts'
import { Shard } from '../read/shard.ts'
import { unitOf } from './group-place.ts'
import { planNoIndex } from './index-plan.ts'
import { joinNodes } from './join-nodes.ts'
import { isBefore, KeptNodes, type KeptPiece, type Piece } from './kept-nodes.ts'
import { NamespaceChoice, NamespaceTable } from './namespace-table.ts'
import type { NodeDraft } from './node-draft.ts'
import { NodeDrafter } from './node-drafts.ts'
import { PendingPointers } from './pending-pointers.ts'
import { type BuiltShard, limitNamespaces, ShardWriter } from './shard-writer.ts'

/** Nodes that are written to one block, more only when a group has more. */
const NODES_AT_ONCE = 1024

/** A unit's nodes, and what they are sorted by. */
type Block = { readonly piece: KeptPiece; readonly key: string }

/** What has to go into the shards. */
export class UnitBlocks {
  private readonly drafter = new NodeDrafter()
  private open = new OpenBlock(NODES_AT_ONCE)
  private readonly blocks = new Map<number, Block>()
  /** Units that were written in parts. */
  private readonly split = new Set<number>()
  /** Namespaces of all. */
  private readonly namespaces = new NamespaceTable()
  private readonly pointers = new PendingPointers(this.namespaces)

  /** Adds entries of a group. */
  add(entries: readonly ZoneEntry[]): void {
    const named: NamedEntry[] = []
    for (const entry of entries) {
      if (isByAddress(entry)) this.pointers.add(entry)
      else named.push(entry)
    }
    const nodes = this.drafter.draft(named)
    if (!this.open.hasRoom(nodes.length)) this.close(nodes.length)
    this.open.write(nodes)
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
    this.close(0)
    const lots = this.pointers.deal(count).map((addresses) => new Lot(addresses))
    for (const [unit, block] of this.blocks) {
      if (!this.split.has(unit)) lots[unit & (count - 1)]?.blocks.push(block)
    }
    for (const entry of entriesIn(this.split)) {
      if (isByAddress(entry)) continue
      lots[unitOf(entry) & (count - 1)]?.entries.push(entry)
      this.namespaces.idOf(entry.namespace)
    }
    const order = this.namespaces.inOrder()
    for (const lot of lots)
      yield lot.build(this.pointers, new NamespaceChoice(this.namespaces, order))
  }

  /** Takes the units of the block that is open, and opens another for so many nodes and more. */
  private close(count: number): void {
    const { source, units } = this.open.close()
    for (const namespace of source.namespaces) this.namespaces.idOf(namespace)
    for (const { unit, from, to, key } of units) {
      if (this.blocks.has(unit)) this.split.add(unit)
      this.blocks.set(unit, { piece: { kind: 'kept', source, from, to }, key })
    }
    this.open = new OpenBlock(Math.max(count, NODES_AT_ONCE))
  }
}

/** Nodes of a unit, by their places in a block. */
type UnitNodes = {
  readonly unit: number
  readonly from: number
  readonly to: number
  /** Of the first one. */
  readonly key: string
}

/** Nodes that are written one group after the other, without an index to them. */
class OpenBlock {
  /** By their numbers here. */
  private readonly namespaces: string[] = ['']
  private readonly units: UnitNodes[] = []
  private readonly writer: ShardWriter
  private readonly room: number
  private count = 0

  /** @param room for so many nodes */
  constructor(room: number) {
    this.room = room
    this.writer = new ShardWriter(this.namespaces, planNoIndex(room))
  }

  /** Whether there is room for so many more. */
  hasRoom(count: number): boolean {
    return this.count + count <= this.room
  }

  /** Writes nodes, sorted. */
  write(nodes: readonly NodeDraft[]): void {
    let namespace: string | undefined
    for (const node of nodes) {
      if (node.namespace === namespace) continue
      namespace = node.namespace
      if (this.namespaces.at(-1) !== namespace && !this.namespaces.includes(namespace))
        this.namespaces.push(namespace)
    }
    this.writer.writeNodes(nodes)
    for (let at = 0; at < nodes.length; ) {
      const start = at
      const { unit = 0, key = '' } = nodes[start] ?? {}
      while (nodes[at]?.unit === unit) at++
      this.units.push({ unit, from: this.count + start, to: this.count + at, key })
    }
    this.count += nodes.length
  }

  close(): { readonly source: KeptNodes; readonly units: readonly UnitNodes[] } {
    const { nodeOffsets, out } = this.writer
    const shard = new Shard(out.bytes.slice(0, out.size), this.namespaces)
    const starts = nodeOffsets.slice(0, this.count)
    return { source: new KeptNodes({ shard, starts, end: out.size }), units: this.units }
  }
}

/** What goes into one shard. */
class Lot {
  readonly blocks: Block[] = []
  /** All that split units say. */
  readonly entries: NamedEntry[] = []
  /** Numbers of the pointers. */
  private readonly addresses: Int32Array

  constructor(addresses: Int32Array) {
    this.addresses = addresses
  }

  build(pointers: PendingPointers, namespaces: NamespaceChoice): BuiltShard {
    const nodes = this.entries.length === 0 ? [] : new NodeDrafter().draft(this.entries)
    const names = new Set<string>()
    for (const { piece } of this.blocks) piece.source.addNamespaces(piece, names)
    for (const { namespace } of nodes) names.add(namespace)
    for (const name of names) namespaces.addName(name)
    const drafts4 = pointers.draft(this.addresses, 4)
    const drafts6 = pointers.draft(this.addresses, 16)
    for (const drafts of [drafts4, drafts6]) pointers.chooseNamespaces(drafts, namespaces)
    const writer = joinNodes(this.pieces(nodes), limitNamespaces(namespaces.list()))
    const rows4 = pointers.write(drafts4, { writer, namespaces })
    return writer.finish(rows4, pointers.write(drafts6, { writer, namespaces }))
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
