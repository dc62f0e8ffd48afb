/**
 * Writes a shard: the same entries give the same octets, whatever order they come in.
 * @module
 */
import { EMPTY, readInt32, toLatin1, word } from '../dns/bytes.ts'
import { TYPE } from '../dns/rr-type.ts'
import type { Rdata, ZoneEntry } from '../records/zone-entry.ts'
import { ByteBuffer } from './byte-buffer.ts'
import { SnapshotError } from './errors.ts'
import {
  ADDRESS_NAMES_BIT,
  FORM,
  GLUE_BIT,
  HEADER,
  IMPLIED_BIT,
  MAGIC,
  NODE_BYTES,
  PARTS_BYTES,
  POD_BIT,
  SCOPES_MAX,
  SET_REF_BYTES,
  SETS_PER_NODE_MAX,
  SHARD_HEADER_BYTES,
  SLOT_BYTES,
  TARGET_BYTES,
} from './layout.ts'
import { hashName } from './name-hash.ts'
import { draftNodes, type NodeDraft, type PointerDraft, type SetDraft } from './node-drafts.ts'
import { SetPlaces } from './set-places.ts'

/** Probes that the longest search in the index may take before another seed is tried. */
const PROBES_GOOD = 16
const SEEDS_TRIED = 64

/**
 * Builds one shard from all entries that belong to it.
 * @throws {SnapshotError} when it would be over 256 MiB or hold over 16,383 namespaces
 */
export function buildShard(entries: Iterable<ZoneEntry>): Uint8Array {
  const { nodes, pointers4, pointers6 } = draftNodes(entries)
  const shard = new ShardWriter(nodes, sortedScopes([...nodes, ...pointers4, ...pointers6]))
  shard.reserveIndex()
  shard.writeNodes()
  const sets4 = shard.writePointerSets(pointers4)
  const sets6 = shard.writePointerSets(pointers6)
  shard.writeAddresses(HEADER.ADDRESS4, pointers4, sets4)
  shard.writeAddresses(HEADER.ADDRESS6, pointers6, sets6)
  shard.writeScopes()
  return shard.finish()
}

function sortedScopes(drafts: readonly { readonly scope: string }[]): string[] {
  const scopes = new Set(drafts.map(({ scope }) => scope))
  scopes.delete('')
  if (scopes.size > SCOPES_MAX) {
    throw new SnapshotError(`Cannot build shard: ${scopes.size} namespaces, at most ${SCOPES_MAX}`)
  }
  return ['', ...[...scopes].sort()]
}

/** A shard in the making: its sections are appended in the order of the header. */
class ShardWriter {
  private readonly out = new ByteBuffer()
  private readonly header = new Int32Array(SHARD_HEADER_BYTES / 4)
  private readonly nodes: readonly NodeDraft[]
  private readonly scopes: readonly string[]
  private readonly scopeIds: ReadonlyMap<string, number>
  /** The nodes by the Latin-1 text of their labels. */
  private readonly nodesByKey: ReadonlyMap<string, NodeDraft>
  /** The same by the array that holds the labels: many records lead to one target. */
  private readonly targets = new Map<Uint8Array, NodeDraft | undefined>()
  private readonly places = new SetPlaces()
  private hashes: Int32Array = new Int32Array(0)

  constructor(nodes: readonly NodeDraft[], scopes: readonly string[]) {
    this.nodes = nodes
    this.nodesByKey = new Map(nodes.map((node) => [node.key, node]))
    this.scopes = scopes
    this.scopeIds = new Map(scopes.map((scope, id) => [scope, id]))
    this.out.reserve(SHARD_HEADER_BYTES)
  }

  /** Makes room for the index, which is written when all nodes have a place. */
  reserveIndex(): void {
    const slotCount = 2 ** Math.ceil(Math.log2(Math.max(2, this.nodes.length * 1.5)))
    this.header[HEADER.SLOTS] = this.out.reserve(SLOT_BYTES * slotCount)
    this.header[HEADER.SLOT_COUNT] = slotCount
    this.header[HEADER.SEED] = this.chooseSeed(slotCount)
  }

  /**
   * Writes the nodes, each with its sets behind it: who finds a name reads on where it is. All get
   * their places first, as SRV records lead to nodes.
   */
  writeNodes(): void {
    const { header, out } = this
    header[HEADER.NODES] = out.size
    header[HEADER.NODE_COUNT] = this.nodes.length
    const sets: [set: SetDraft, offset: number][] = []
    const setsOf = this.nodes.map((node) => {
      node.offset = out.reserve(NODE_BYTES + SET_REF_BYTES * node.sets.size + node.owner.length)
      out.align()
      const ofNode = [...node.sets.values()].sort((a, b) => a.type - b.type)
      return ofNode.map((set): [SetDraft, number] => [set, this.placeSet(set, sets)])
    })
    for (const [set, offset] of sets) this.writeSet(set, offset)
    for (const [i, node] of this.nodes.entries()) this.writeNode(node, setsOf[i] ?? [])
    header[HEADER.SETS] = out.size
    this.writeIndex()
  }

  /** Writes the sets of pointers and returns their offsets, 0 for none. */
  writePointerSets(pointers: readonly PointerDraft[]): number[] {
    const sets: [set: SetDraft, offset: number][] = []
    const offsets = pointers.map(({ set }) => (set === undefined ? 0 : this.placeSet(set, sets)))
    for (const [set, offset] of sets) this.writeSet(set, offset)
    this.header[HEADER.SETS_END] = this.out.size
    return offsets
  }

  /** Writes three columns: addresses, offsets of their sets, namespace and number of records. */
  writeAddresses(field: number, pointers: readonly PointerDraft[], sets: readonly number[]): void {
    this.header[field] = this.out.size
    this.header[field + 1] = pointers.length
    for (const { address } of pointers) {
      for (let at = 0; at < address.length; at += 4) this.out.append32(readInt32(address, at))
    }
    for (const offset of sets) this.out.append32(offset)
    for (const { scope, set, isPod } of pointers) {
      this.out.append16((this.scopeIds.get(scope) ?? 0) | (isPod ? POD_BIT : 0))
      this.out.append16(set?.rdata.length ?? 0)
    }
  }

  /** Writes the namespaces in UTF-8, each behind its size. */
  writeScopes(): void {
    this.header[HEADER.SCOPES] = this.out.size
    this.header[HEADER.SCOPE_COUNT] = this.scopes.length
    for (const scope of this.scopes) {
      const text = new TextEncoder().encode(scope)
      this.out.append16(text.length)
      this.out.append(text)
    }
    this.out.align()
  }

  /** Writes the header and returns the shard. */
  finish(): Uint8Array {
    this.header[HEADER.MAGIC] = MAGIC
    this.header[HEADER.BYTES] = this.out.size
    this.header.forEach((value, i) => {
      this.out.put32(4 * i, value)
    })
    return this.out.bytes.slice(0, this.out.size)
  }

  private writeIndex(): void {
    const slots = word(this.header, HEADER.SLOTS)
    this.placeNodes(word(this.header, HEADER.SLOT_COUNT)).forEach((number, slot) => {
      const node = this.nodes[number - 1]
      if (node === undefined) return
      this.out.put32(slots + SLOT_BYTES * slot, word(this.hashes, number - 1))
      this.out.put32(slots + SLOT_BYTES * slot + 4, node.offset)
    })
  }

  private targetNode(target: Uint8Array): NodeDraft | undefined {
    if (this.targets.has(target)) return this.targets.get(target)
    const node = this.nodesByKey.get(toLatin1(target))
    this.targets.set(target, node)
    return node
  }

  /** Tries seeds in turn until no search is long, so that nobody gains from names that collide. */
  private chooseSeed(slotCount: number): number {
    const isTaken = new Uint8Array(slotCount)
    for (let seed = 0; seed < SEEDS_TRIED; seed++) {
      this.hashes = this.hashAll(seed)
      isTaken.fill(0)
      const isGood = this.hashes.every((hash) => {
        const first = hash & (slotCount - 1)
        const slot = freeSlot(isTaken, first)
        isTaken[slot] = 1
        return ((slot - first) & (slotCount - 1)) < PROBES_GOOD
      })
      if (isGood) return seed
    }
    this.hashes = this.hashAll(0)
    return 0
  }

  private hashAll(seed: number): Int32Array {
    return Int32Array.from(this.nodes, ({ owner }) => hashName(owner, owner.length, seed))
  }

  /** The number of the node in each slot, from 1; 0 for none. */
  private placeNodes(slotCount: number): Int32Array {
    const placed = new Int32Array(slotCount)
    this.hashes.forEach((hash, i) => {
      placed[freeSlot(placed, hash & (slotCount - 1))] = i + 1
    })
    return placed
  }

  private writeNode(node: NodeDraft, sets: readonly [set: SetDraft, offset: number][]): void {
    if (sets.length > SETS_PER_NODE_MAX) {
      throw new SnapshotError(`Cannot build shard: ${sets.length} types at one name`)
    }
    const { out } = this
    const { offset } = node
    const flag = node.hasAddressNames ? ADDRESS_NAMES_BIT : 0
    out.put16(offset, node.owner.length | ((sets.length | flag) << 8))
    const marks = (node.isImplied ? IMPLIED_BIT : 0) | (node.isGlue ? GLUE_BIT : 0)
    out.put16(offset + 2, (this.scopeIds.get(node.scope) ?? 0) | marks)
    let ref = offset + NODE_BYTES
    for (const [{ type, rdata }, setOffset] of sets) {
      out.put16(ref, type)
      out.put16(ref + 2, rdata.length)
      out.put32(ref + 4, setOffset)
      ref += SET_REF_BYTES
    }
    out.put(ref, node.owner)
  }

  /** Finds a set's place; makes one, and notes it in `placed`, where no other set is the same. */
  private placeSet(set: SetDraft, placed: [set: SetDraft, offset: number][]): number {
    return this.places.offsetOf(set, () => {
      const offset = this.out.reserve(4 + this.itemsBytes(set))
      this.out.align()
      placed.push([set, offset])
      return offset
    })
  }

  private itemsBytes(set: SetDraft): number {
    const form = this.formOf(set)
    if (form === FORM.TARGETS) return TARGET_BYTES * set.rdata.length
    const more = form === FORM.PARTS ? PARTS_BYTES : 0
    return set.rdata.reduce(
      (sum, { bytes, target }) => sum + more + bytes.length + (target?.length ?? 0),
      0,
    )
  }

  private writeSet(set: SetDraft, offset: number): void {
    const form = this.formOf(set)
    this.out.put32(offset, (form << 24) | set.ttlSeconds)
    if (form === FORM.TARGETS) this.writeTargets(offset + 4, set.rdata)
    else this.writeItems(offset + 4, form, set.rdata)
  }

  private writeTargets(offset: number, rdata: readonly Rdata[]): void {
    const { out } = this
    const seen = new Set<number>()
    let at = offset
    for (const { bytes, target } of rdata) {
      const node = this.targetNode(target ?? EMPTY)?.offset ?? 0
      out.put(at, bytes)
      out.put16(at + 6, seen.has(node) ? 1 : 0)
      out.put32(at + 8, node)
      seen.add(node)
      at += TARGET_BYTES
    }
  }

  private writeItems(offset: number, form: number, rdata: readonly Rdata[]): void {
    const { out } = this
    let at = offset
    for (const { bytes, target } of rdata) {
      if (form === FORM.PARTS) {
        out.put16(at, bytes.length)
        out.put16(at + 2, target === undefined ? 0 : target.length + 1)
        at += PARTS_BYTES
      }
      out.put(at, bytes)
      at += bytes.length
      if (target === undefined) continue
      out.put(at, target)
      at += target.length
    }
  }

  private formOf({ type, rdata }: SetDraft): number {
    if (type === TYPE.A || type === TYPE.AAAA) return FORM.FIXED
    const isKnown = ({ target }: Rdata): boolean =>
      target !== undefined && this.targetNode(target) !== undefined
    return type === TYPE.SRV && rdata.every(isKnown) ? FORM.TARGETS : FORM.PARTS
  }
}

function freeSlot(taken: Uint8Array | Int32Array, first: number): number {
  let slot = first
  while (taken[slot] !== 0) slot = (slot + 1) & (taken.length - 1)
  return slot
}
