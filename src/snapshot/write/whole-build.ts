/**
 * Builds all shards at once. Groups are added one by one; their nodes are written to a buffer soon
 * after, and copied to their shard at the end. To hold all entries until then would take several
 * times the memory of the shards.
 * @module
 */

import { Shard } from '../read/shard.ts'
import { isByAddress, type NamedEntry, type ZoneEntry } from '../records/zone-entry.ts'
import { unitOf } from './group-units.ts'
import { NO_INDEX } from './index-plan.ts'
import { joinNodes } from './join-nodes.ts'
import { isBefore, KeptNodes, type Piece, type Run } from './kept-nodes.ts'
import type { NodeDraft } from './node-draft.ts'
import { NodeDrafter } from './node-drafts.ts'
import { PackedPointers } from './pointer-drafts.ts'
import { type BuiltShard, ShardWriter, sortedNamespaces } from './shard-writer.ts'

/** Nodes of a buffer, about: the last group may exceed it. */
const BUFFER_NODES = 1024

/** The nodes of a unit, and the key of the first. */
type UnitRun = { readonly run: Run; readonly key: string }

/** The nodes and pointers of all groups. */
export class WholeBuild {
  private readonly drafter = new NodeDrafter()
  private buffer = new NodeBuffer()
  private readonly runs = new Map<number, UnitRun>()
  /** Units with nodes from several groups. */
  private readonly split = new Set<number>()
  private readonly pointers = new PackedPointers()

  /** Adds the entries of a group. */
  add(entries: readonly ZoneEntry[]): void {
    const named: NamedEntry[] = []
    for (const entry of entries) {
      if (isByAddress(entry)) this.pointers.add(entry)
      else named.push(entry)
    }
    this.buffer.write(this.drafter.draft(named))
    if (this.buffer.isFull) this.flush()
  }

  /**
   * Builds the shards, one after the other.
   * @param count a power of two
   * @param entriesIn returns the entries of all groups in some units
   * @throws {SnapshotError} when a shard would be over 256 MiB or hold over 16,383 namespaces
   */
  *shards(
    count: number,
    entriesIn: (units: ReadonlySet<number>) => readonly ZoneEntry[],
  ): Generator<BuiltShard> {
    this.flush()
    const parts = this.pointers.deal(count).map((pointers) => new ShardParts(pointers))
    for (const [unit, run] of this.runs) {
      if (!this.split.has(unit)) parts[unit & (count - 1)]?.runs.push(run)
    }
    for (const entry of entriesIn(this.split)) {
      if (!isByAddress(entry)) parts[unitOf(entry) & (count - 1)]?.entries.push(entry)
    }
    for (const part of parts) yield part.build(this.pointers)
  }

  /** Notes the units of the buffer, and starts another. */
  private flush(): void {
    for (const [unit, run] of this.buffer.unitRuns()) {
      if (this.runs.has(unit)) this.split.add(unit)
      this.runs.set(unit, run)
    }
    this.buffer = new NodeBuffer()
  }
}

/** Nodes of some groups, written one group after the other, without an index. */
class NodeBuffer {
  private readonly namespaces: string[] = ['']
  private readonly writer = new ShardWriter(this.namespaces, NO_INDEX)
  /** Where the nodes of each unit begin; a unit occurs again for each group with a part of it. */
  private readonly units: { readonly unit: number; readonly key: string; readonly from: number }[] =
    []

  get isFull(): boolean {
    return this.writer.nodeOffsets.length >= BUFFER_NODES
  }

  /** Writes the nodes of a group, sorted. */
  write(nodes: readonly NodeDraft[]): void {
    const { namespaces, units } = this
    const start = this.writer.nodeOffsets.length
    let last: NodeDraft | undefined
    for (const [i, node] of nodes.entries()) {
      if (node.unit !== last?.unit) units.push({ unit: node.unit, key: node.key, from: start + i })
      if (node.namespace !== last?.namespace && !namespaces.includes(node.namespace)) {
        namespaces.push(node.namespace)
      }
      last = node
    }
    this.writer.writeNodes(nodes)
  }

  /** Returns the nodes of each unit. */
  unitRuns(): (readonly [unit: number, UnitRun])[] {
    const { nodeOffsets, out } = this.writer
    const end = out.size
    const shard = new Shard(out.take(), this.namespaces)
    const source = new KeptNodes({ shard, starts: Int32Array.from(nodeOffsets), end })
    return this.units.map(({ unit, key, from }, i) => {
      const to = this.units[i + 1]?.from ?? nodeOffsets.length
      return [unit, { key, run: { kind: 'kept', source, from, to } }]
    })
  }
}

/** The input of one shard. */
class ShardParts {
  readonly runs: UnitRun[] = []
  /** All entries of split units. */
  readonly entries: NamedEntry[] = []
  private readonly pointers: Int32Array

  /** @param pointers their numbers in the whole build's `PackedPointers` */
  constructor(pointers: Int32Array) {
    this.pointers = pointers
  }

  build(packed: PackedPointers): BuiltShard {
    const nodes = new NodeDrafter().draft(this.entries)
    const names = new Set<string>()
    for (const { run } of this.runs) run.source.addNamespaces(run, names)
    for (const { namespace } of nodes) names.add(namespace)
    const pointers = packed.draft(this.pointers)
    for (const pointer of pointers) names.add(packed.namespaceOf(pointer))
    const writer = joinNodes(this.pieces(nodes), sortedNamespaces(names))
    for (const pointer of pointers) packed.write(pointer, writer)
    return writer.finish()
  }

  /** Merges the runs with the nodes of split units, in order. */
  private pieces(nodes: readonly NodeDraft[]): Piece[] {
    const runs = this.runs.sort((a, b) => (a.key < b.key ? -1 : 1))
    const pieces: Piece[] = []
    let at = 0
    const takeBefore = (key: string | undefined): void => {
      const from = at
      while (isBefore(nodes[at], key)) at++
      if (at > from) pieces.push({ kind: 'new', nodes: nodes.slice(from, at) })
    }
    for (const { run, key } of runs) {
      takeBefore(key)
      pieces.push(run)
    }
    takeBefore(undefined)
    return pieces
  }
}
