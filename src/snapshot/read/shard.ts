/**
 * An open shard. Look-ups read the bytes in place and allocate nothing; `openShard` has checked
 * whatever they rely on.
 * @module
 */
import { byteAt, tailMask } from '../../dns/bytes/bytes.ts'
import { AddressTable } from '../format/address-table.ts'
import {
  ADDRESS_NAMES_BIT,
  GLUE_MARK,
  HEADER,
  IMPLIED_MARK,
  NAMESPACES_MAX,
  NODE_BYTES,
  SET_REF_BYTES,
  SETS_PER_NODE_MAX,
  SLOT_BYTES,
  TARGET_BYTES,
} from '../format/layout.ts'
import { hashName, hashWords } from '../format/name-hash.ts'
import type { RightsTable } from '../format/rights-table.ts'

/** Labels, each as `key=value`, by namespace. */
export type NamespaceLabels = ReadonlyMap<string, readonly string[]>

/** What a cluster says of its namespaces beside their names. Another object for each change. */
export type NamespaceFacts = {
  readonly labels: NamespaceLabels
  /** Absent for a cluster that publishes none: then nobody sees a namespace by its rights. */
  readonly rights?: RightsTable
}

// Sizes in 32-bit words.
const NODE_WORDS = NODE_BYTES / 4
const SET_REF_WORDS = SET_REF_BYTES / 4
const SLOT_WORDS = SLOT_BYTES / 4
const TARGET_WORDS = TARGET_BYTES / 4

/** One shard. `openShard` creates it; nodes, references and sets are offsets into `bytes`. */
export class Shard {
  // The fields of every look-up come first, to be in one cache line.
  /** The bytes as 32-bit words. */
  readonly words: Int32Array
  private readonly seed: number
  private readonly slots: number
  private readonly slotMask: number
  readonly bytes: Uint8Array
  /** Set by look-ups. The cache of shards clears it to see which ones are in use. */
  isUsed = true
  /** Facts of its cluster's namespaces, if clients see them by these; the loader sets it. */
  facts: NamespaceFacts | undefined
  readonly addresses4: AddressTable
  readonly addresses6: AddressTable
  private namespaceNames: readonly string[] | undefined

  /** @param namespaces names of the namespaces, if they are known */
  constructor(bytes: Uint8Array, namespaces?: readonly string[]) {
    this.bytes = bytes
    this.words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2)
    this.namespaceNames = namespaces
    this.seed = this.field(HEADER.SEED)
    this.slots = this.field(HEADER.SLOTS) >>> 2
    this.slotMask = this.field(HEADER.SLOT_COUNT) - 1
    this.addresses4 = this.addressTable(4, HEADER.ADDRESS4)
    this.addresses6 = this.addressTable(16, HEADER.ADDRESS6)
  }

  /** Returns the namespaces by their number in this shard; number 0 is ''. */
  get namespaces(): readonly string[] {
    // Read on demand: gateways rarely need them, and for a million records they take 6 MiB of 53.
    this.namespaceNames ??= readNamespaceNames(
      this.bytes.subarray(this.field(HEADER.NAMESPACES)),
      this.field(HEADER.NAMESPACE_COUNT),
    )
    return this.namespaceNames
  }

  /** Reads a field of the header. */
  field(index: number): number {
    return this.words[index] ?? 0
  }

  /** Finds a name by the first `size` bytes of its lower-case labels; 0 if it does not exist. */
  findNode(labels: Uint8Array, size: number): number {
    const hash = hashName(labels, size, this.seed)
    for (let slot = hash & this.slotMask; ; slot = (slot + 1) & this.slotMask) {
      const at = this.slots + SLOT_WORDS * slot
      const node = this.words[at + 1] ?? 0
      if (node === 0) return 0
      if (this.words[at] === hash && this.hasName(node, labels, size)) return node
    }
  }

  /** Returns what `findNode` does, for labels in 32-bit words. */
  findName(labels: Int32Array, size: number): number {
    const { words, slots, slotMask } = this
    this.isUsed = true
    // Nearly all shards have the seed 0. Hashing before the seed arrives from memory saves a tenth
    // of the time of an answer.
    const unseeded = hashWords(labels, size, 0)
    const hash = this.seed === 0 ? unseeded : hashWords(labels, size, this.seed)
    for (let slot = hash & slotMask; ; slot = (slot + 1) & slotMask) {
      const at = slots + SLOT_WORDS * slot
      const node = words[at + 1] ?? 0
      if (node === 0) return 0
      if (words[at] === hash && this.isNamed(node, labels, size)) return node
    }
  }

  /** Returns the first word of a node: sizes of its name and its sets, namespace and marks. */
  nodeHead(node: number): number {
    return this.words[node >>> 2] ?? 0
  }

  /** Finds a node's reference to its set of a type; 0 if it has none. */
  findSet(node: number, type: number): number {
    const { words } = this
    const first = (node >>> 2) + NODE_WORDS
    const end = first + SET_REF_WORDS * (((words[node >>> 2] ?? 0) >>> 8) & SETS_PER_NODE_MAX)
    for (let ref = first; ref < end; ref += SET_REF_WORDS) {
      if (((words[ref] ?? 0) & 0xffff) === type) return 4 * ref
    }
    return 0
  }

  /** Returns the number of types at a node. */
  setCount(node: number): number {
    return (this.nodeHead(node) >>> 8) & SETS_PER_NODE_MAX
  }

  /** Returns whether names of addresses exist below a node. */
  hasAddressNames(node: number): boolean {
    return ((this.nodeHead(node) >>> 8) & ADDRESS_NAMES_BIT) !== 0
  }

  /** Returns the number of the namespace that a node belongs to. */
  nodeNamespaceId(node: number): number {
    return (this.nodeHead(node) >>> 16) & NAMESPACES_MAX
  }

  /** Returns whether a node exists only because of names below it. */
  isImplied(node: number): boolean {
    return (this.nodeHead(node) & IMPLIED_MARK) !== 0
  }

  /** Returns whether a node's records are for the additional section only. */
  isGlue(node: number): boolean {
    return (this.nodeHead(node) & GLUE_MARK) !== 0
  }

  /** Returns the number of bytes of a node's labels. */
  nameBytes(node: number): number {
    return this.nodeHead(node) & 0xff
  }

  /** Returns the offset of a node's labels. */
  nameOffset(node: number): number {
    return node + 4 * (NODE_WORDS + SET_REF_WORDS * this.setCount(node))
  }

  /** Returns the type of a reference's set. */
  refType(ref: number): number {
    return (this.words[ref >>> 2] ?? 0) & 0xffff
  }

  /** Returns the number of records in a reference's set. */
  refCount(ref: number): number {
    return (this.words[ref >>> 2] ?? 0) >>> 16
  }

  /** Returns the offset of a reference's set. */
  refSet(ref: number): number {
    return this.words[(ref >>> 2) + 1] ?? 0
  }

  /** Returns the TTL of a set, in seconds. */
  setTtl(set: number): number {
    return (this.words[set >>> 2] ?? 0) & 0xffffff
  }

  /** Returns the form of a set. */
  setForm(set: number): number {
    return (this.words[set >>> 2] ?? 0) >>> 24
  }

  /** Returns the offset of an item's target node, in a set of form TARGETS. */
  targetNode(set: number, index: number): number {
    return this.words[(set >>> 2) + TARGET_WORDS * index + 3] ?? 0
  }

  /** Returns whether no earlier item of a set of form TARGETS has the same target. */
  isFirstWithTarget(set: number, index: number): boolean {
    return (this.words[(set >>> 2) + TARGET_WORDS * index + 2] ?? 0) >>> 16 === 0
  }

  /** Reads a 16-bit number, little-endian. */
  uint16(offset: number): number {
    return (this.bytes[offset] ?? 0) | ((this.bytes[offset + 1] ?? 0) << 8)
  }

  /** Returns the number of names. */
  get nodeCount(): number {
    return this.field(HEADER.NODE_COUNT)
  }

  /** Returns the offsets of all nodes, ascending. */
  nodes(): Int32Array {
    const offsets = new Int32Array(this.nodeCount)
    let count = 0
    for (let slot = this.slotMask; slot >= 0; slot--) {
      const node = this.slotNode(slot)
      if (node !== 0) offsets[count++] = node
    }
    return offsets.sort()
  }

  /** Returns the number of slots of the index. */
  get slotCount(): number {
    return this.slotMask + 1
  }

  /** Returns the offset of the node in a slot of the index, 0 for a free slot. */
  slotNode(slot: number): number {
    return this.words[this.slots + SLOT_WORDS * slot + 1] ?? 0
  }

  /** Returns the offsets of a node's references to its sets. */
  refs(node: number): readonly number[] {
    return Array.from(
      { length: this.setCount(node) },
      (_, i) => node + NODE_BYTES + SET_REF_BYTES * i,
    )
  }

  private addressTable(addressBytes: 4 | 16, field: number): AddressTable {
    return new AddressTable(this.words, addressBytes, this.field(field), this.field(field + 1))
  }

  private isNamed(node: number, labels: Int32Array, size: number): boolean {
    const { words } = this
    const head = words[node >>> 2] ?? 0
    if ((head & 0xff) !== size) return false
    const start = (node >>> 2) + NODE_WORDS + SET_REF_WORDS * ((head >>> 8) & SETS_PER_NODE_MAX)
    const whole = size >>> 2
    for (let i = 0; i < whole; i++) {
      if (words[start + i] !== labels[i]) return false
    }
    if ((size & 3) === 0) return true
    return (((words[start + whole] ?? 0) ^ (labels[whole] ?? 0)) & tailMask(size)) === 0
  }

  private hasName(node: number, labels: Uint8Array, size: number): boolean {
    if (this.bytes[node] !== size) return false
    const start = this.nameOffset(node)
    for (let i = 0; i < size; i++) {
      if (this.bytes[start + i] !== labels[i]) return false
    }
    return true
  }
}

const UTF8 = new TextDecoder()
const NOT_ASCII = /[^\0-\x7f]/

/** Reads `count` names. The caller has checked that they end within `bytes`. */
export function readNamespaceNames(bytes: Uint8Array, count: number): string[] {
  const text = UTF8.decode(bytes)
  // ASCII only, as nearly always: each byte is a character, sizes included.
  const isAscii = !NOT_ASCII.test(text)
  const names: string[] = []
  for (let at = 0; names.length < count; ) {
    const start = at + 2
    at = start + (byteAt(bytes, at) | (byteAt(bytes, at + 1) << 8))
    names.push(isAscii ? text.slice(start, at) : UTF8.decode(bytes.subarray(start, at)))
  }
  return names
}
