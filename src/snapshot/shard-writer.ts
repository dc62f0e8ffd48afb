/**
 * Writes a shard: the same entries give the same octets, whatever order they come in.
 * @module
 */
import { EMPTY, readUint32, toLatin1, word } from '../dns/bytes.ts'
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
  POD_BIT,
  SCOPES_MAX,
  SET_REF_BYTES,
  SETS_PER_NODE_MAX,
  SHARD_HEADER_BYTES,
  SLOT_BYTES,
} from './layout.ts'
import { hashName, hashOctets } from './name-hash.ts'
import { draftNodes, type NodeDraft, type PointerDraft, type SetDraft } from './node-drafts.ts'

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
  shard.writeIndex()
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
  private readonly header = new Uint32Array(SHARD_HEADER_BYTES / 4)
  private readonly nodes: readonly NodeDraft[]
  private readonly scopes: readonly string[]
  private readonly scopeIds: ReadonlyMap<string, number>
  /** Offset of each node, by the Latin-1 text of its labels. */
  private readonly nodeOffsets = new Map<string, number>()
  /** The same by the array that holds the labels: many records lead to one target. */
  private readonly targetOffsets = new Map<Uint8Array, number>()
  /** Offset of a set written so far, by the hash of its type and octets. */
  private readonly setOffsets = new Map<number, number>()
  private readonly setTypes = new Map<number, number>()
  private hashes: Uint32Array = new Uint32Array(0)

  constructor(nodes: readonly NodeDraft[], scopes: readonly string[]) {
    this.nodes = nodes
    this.scopes = scopes
    this.scopeIds = new Map(scopes.map((scope, id) => [scope, id]))
    this.out.reserve(SHARD_HEADER_BYTES)
  }

  /** Writes the index and makes room for the nodes, so that all offsets are known. */
  writeIndex(): void {
    const slotCount = 2 ** Math.ceil(Math.log2(Math.max(2, this.nodes.length * 1.5)))
    const slots = this.out.reserve(SLOT_BYTES * slotCount)
    this.header[HEADER.SLOTS] = slots
    this.header[HEADER.SLOT_COUNT] = slotCount
    this.header[HEADER.NODES] = this.out.size
    this.header[HEADER.NODE_COUNT] = this.nodes.length
    for (const { owner, key, sets } of this.nodes) {
      const offset = this.out.reserve(NODE_BYTES + SET_REF_BYTES * sets.size + owner.length)
      this.out.align()
      this.nodeOffsets.set(key, offset)
    }
    const seed = this.chooseSeed(slotCount)
    this.header[HEADER.SEED] = seed
    this.placeNodes(slotCount).forEach((number, slot) => {
      const node = this.nodes[number - 1]
      if (node === undefined) return
      this.out.put32(slots + SLOT_BYTES * slot, word(this.hashes, number - 1))
      this.out.put32(slots + SLOT_BYTES * slot + 4, this.nodeOffsets.get(node.key) ?? 0)
    })
  }

  /** Writes the nodes and their sets. */
  writeNodes(): void {
    this.header[HEADER.SETS] = this.out.size
    for (const node of this.nodes) this.writeNode(node)
    this.header[HEADER.SETS_END] = this.out.size
  }

  /** Writes the sets of pointers and returns their offsets, 0 for none. */
  writePointerSets(pointers: readonly PointerDraft[]): number[] {
    const offsets = pointers.map(({ set }) => (set === undefined ? 0 : this.writeSet(set)))
    this.header[HEADER.SETS_END] = this.out.size
    return offsets
  }

  /** Writes three columns: addresses, offsets of their sets, namespace and number of records. */
  writeAddresses(field: number, pointers: readonly PointerDraft[], sets: readonly number[]): void {
    this.header[field] = this.out.size
    this.header[field + 1] = pointers.length
    for (const { address } of pointers) {
      for (let at = 0; at < address.length; at += 4) this.out.append32(readUint32(address, at))
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

  private targetOffset(target: Uint8Array): number {
    const known = this.targetOffsets.get(target)
    if (known !== undefined) return known
    const offset = this.nodeOffsets.get(toLatin1(target)) ?? 0
    this.targetOffsets.set(target, offset)
    return offset
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

  private hashAll(seed: number): Uint32Array {
    return Uint32Array.from(this.nodes, ({ owner }) => hashName(owner, owner.length, seed))
  }

  /** The number of the node in each slot, from 1; 0 for none. */
  private placeNodes(slotCount: number): Uint32Array {
    const placed = new Uint32Array(slotCount)
    this.hashes.forEach((hash, i) => {
      placed[freeSlot(placed, hash & (slotCount - 1))] = i + 1
    })
    return placed
  }

  private writeNode(node: NodeDraft): void {
    const sets = [...node.sets.values()].sort((a, b) => a.type - b.type)
    if (sets.length > SETS_PER_NODE_MAX) {
      throw new SnapshotError(`Cannot build shard: ${sets.length} types at one name`)
    }
    const offset = this.nodeOffsets.get(node.key) ?? 0
    const flag = node.hasAddressNames ? ADDRESS_NAMES_BIT : 0
    this.out.put16(offset, node.owner.length | ((sets.length | flag) << 8))
    const marks = (node.isImplied ? IMPLIED_BIT : 0) | (node.isGlue ? GLUE_BIT : 0)
    this.out.put16(offset + 2, (this.scopeIds.get(node.scope) ?? 0) | marks)
    let ref = offset + NODE_BYTES
    for (const set of sets) {
      const setOffset = this.writeSet(set)
      this.out.put16(ref, set.type)
      this.out.put16(ref + 2, set.rdata.length)
      this.out.put32(ref + 4, setOffset)
      ref += SET_REF_BYTES
    }
    this.out.bytes.set(node.owner, ref)
  }

  /** Writes a set, or finds one with the same octets. Returns its offset. */
  private writeSet(set: SetDraft): number {
    const { out } = this
    const start = out.size
    const form = this.formOf(set)
    out.append32((form << 24) | set.ttlSeconds)
    if (form === FORM.TARGETS) this.writeTargets(set.rdata)
    else for (const rdata of set.rdata) this.writeRdata(form, rdata)
    out.align()
    const key = hashOctets(out.bytes, start, out.size, set.type)
    const known = this.setOffsets.get(key)
    this.setTypes.set(start, set.type)
    if (known === undefined) this.setOffsets.set(key, start)
    if (known === undefined || !this.hasSame(known, start, set.type)) return start
    out.truncate(start)
    return known
  }

  private writeTargets(rdata: readonly Rdata[]): void {
    const { out } = this
    const targets = new Set<number>()
    for (const { bytes, target } of rdata) {
      const node = this.targetOffset(target ?? EMPTY)
      out.append(bytes)
      out.append16(targets.has(node) ? 1 : 0)
      out.append32(node)
      targets.add(node)
    }
  }

  private writeRdata(form: number, { bytes, target }: Rdata): void {
    const { out } = this
    if (form === FORM.PARTS) {
      out.append16(bytes.length)
      out.append16(target === undefined ? 0 : target.length + 1)
    }
    out.append(bytes)
    if (target !== undefined) out.append(target)
  }

  /** Whether the octets from `start` to the end are those of a set of the type before them. */
  private hasSame(known: number, start: number, type: number): boolean {
    const { bytes, size } = this.out
    if (this.setTypes.get(known) !== type || known + size - start > start) return false
    for (let i = start; i < size; i++) {
      if (bytes[known + i - start] !== bytes[i]) return false
    }
    return true
  }

  private formOf({ type, rdata }: SetDraft): number {
    if (type === TYPE.A || type === TYPE.AAAA) return FORM.FIXED
    const isKnown = ({ target }: Rdata): boolean =>
      target !== undefined && this.targetOffset(target) !== 0
    return type === TYPE.SRV && rdata.every(isKnown) ? FORM.TARGETS : FORM.PARTS
  }
}

function freeSlot(taken: Uint8Array | Uint32Array, first: number): number {
  let slot = first
  while (taken[slot] !== 0) slot = (slot + 1) & (taken.length - 1)
  return slot
}
