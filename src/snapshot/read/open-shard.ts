/**
 * Opens a shard from untrusted bytes. Checks once whatever look-ups rely on.
 * @module
 */
import { byteAt, word } from '../../dns/bytes/bytes.ts'
import { NAME_BYTES_MAX } from '../../dns/names/limits.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import { isValidRdata, nameEnd } from '../../dns/wire/rdata-wire.ts'
import type { AddressTable } from '../format/address-table.ts'
import {
  FEATURES_KNOWN,
  FORM,
  HEADER,
  MAGIC,
  NAMESPACES_MAX,
  NODE_BYTES,
  PARTS_BYTES,
  SET_REF_BYTES,
  SETS_PER_NODE_MAX,
  SHARD_HEADER_BYTES,
  SLOT_BYTES,
  SnapshotError,
  TARGET_BYTES,
} from '../format/layout.ts'
import { Shard } from './shard.ts'

const SET_REF_WORDS = SET_REF_BYTES / 4

/** Offset of the name at the end of a type's rdata. */
const NAME_OFFSETS: Readonly<Record<number, number>> = {
  [TYPE.NS]: 0,
  [TYPE.CNAME]: 0,
  [TYPE.PTR]: 0,
  [TYPE.DNAME]: 0,
  [TYPE.MX]: 2,
  [TYPE.SRV]: 6,
}

/**
 * Checks and opens a shard. Holds a reference to `bytes`, or to a copy if they are not aligned to
 * four bytes.
 * @throws {SnapshotError} with what was found and what was expected
 */
export function openShard(bytes: Uint8Array): Shard {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes)
  if (aligned.length < SHARD_HEADER_BYTES || aligned.length % 4 !== 0) {
    throw refuse(`${aligned.length} bytes are not a shard`)
  }
  const words = new Int32Array(aligned.buffer, aligned.byteOffset, aligned.length / 4)
  checkHeader(words, aligned.length)
  checkNamespaces(aligned, words)
  const shard = new Shard(aligned)
  const found: Found = {
    shard,
    start: shard.field(HEADER.NODES),
    end: shard.field(HEADER.SETS_END),
    marks: new Int32Array(words.length),
    byteCount: 0,
  }
  checkNodes(found)
  checkNodeSets(found)
  checkAddresses(found, shard.addresses4)
  checkAddresses(found, shard.addresses6)
  return shard
}

function refuse(what: string): SnapshotError {
  return new SnapshotError(`Cannot open shard: ${what}`)
}

/** Checks that the sections are in the header's order, and large enough for their counts. */
function checkHeader(words: Int32Array, size: number): void {
  const field = (index: number): number => word(words, index) >>> 0
  if (field(HEADER.MAGIC) !== MAGIC) throw refuse('it does not begin with "KDS3"')
  if ((field(HEADER.FEATURES) & ~FEATURES_KNOWN) !== 0) {
    throw refuse(`it needs features ${field(HEADER.FEATURES)}, this build knows ${FEATURES_KNOWN}`)
  }
  if (field(HEADER.BYTES) !== size)
    throw refuse(`${size} bytes, header says ${field(HEADER.BYTES)}`)
  const slotCount = field(HEADER.SLOT_COUNT)
  if (slotCount < 2 || (slotCount & (slotCount - 1)) !== 0) {
    throw refuse(`the index has ${slotCount} slots, not a power of two`)
  }
  if (field(HEADER.NODE_COUNT) >= slotCount) throw refuse('the index is full')
  const offsets: readonly [name: string, start: number, end: number][] = [
    ['index', field(HEADER.SLOTS), field(HEADER.SLOTS) + SLOT_BYTES * slotCount],
    ['nodes', field(HEADER.NODES), field(HEADER.SETS)],
    ['sets', field(HEADER.SETS), field(HEADER.SETS_END)],
    ['IPv4', field(HEADER.ADDRESS4), field(HEADER.ADDRESS4) + 12 * field(HEADER.ADDRESS4_COUNT)],
    ['IPv6', field(HEADER.ADDRESS6), field(HEADER.ADDRESS6) + 24 * field(HEADER.ADDRESS6_COUNT)],
    ['namespaces', field(HEADER.NAMESPACES), size],
  ]
  let floor = SHARD_HEADER_BYTES
  for (const [name, start, end] of offsets) {
    if (start % 4 !== 0 || start < floor || end < start || end > size) {
      throw refuse(
        `section "${name}" is at ${start} to ${end}, expected within ${floor} to ${size}`,
      )
    }
    floor = end
  }
}

/** Checks that the namespaces end within the shard, and that the first is the empty one. */
function checkNamespaces(bytes: Uint8Array, words: Int32Array): void {
  const start = word(words, HEADER.NAMESPACES)
  const count = word(words, HEADER.NAMESPACE_COUNT) >>> 0
  let at = start
  for (let left = count; left > 0; left--) {
    if (at + 2 > bytes.length) throw refuse('a namespace overruns')
    at += 2 + (byteAt(bytes, at) | (byteAt(bytes, at + 1) << 8))
  }
  if (at > bytes.length) throw refuse('a namespace overruns')
  if (count === 0 || bytes[start] !== 0 || bytes[start + 1] !== 0) {
    throw refuse('the first namespace is not the empty one')
  }
}

/** Mark of a node. The mark of a set is its type and its number of records, which is not 0. */
const NODE_MARK = 1

/** The state of a check. */
type Found = {
  readonly shard: Shard
  /** Start of the nodes, and end of the sets. */
  readonly start: number
  readonly end: number
  /** For each word of the shard: whether a node starts there, or how a set there was read. */
  readonly marks: Int32Array
  /** Bytes of all nodes and sets so far. */
  byteCount: number
}

// The functions below run when a gateway starts, before V8 compiles them: they are loops with few
// calls.

/** Checks the nodes that the index points to. */
function checkNodes(found: Found): void {
  const { shard, marks, start } = found
  const { words, bytes } = shard
  const end = shard.field(HEADER.SETS)
  const namespaceCount = shard.field(HEADER.NAMESPACE_COUNT)
  let used = 0
  for (let slot = shard.field(HEADER.SLOT_COUNT) - 1; slot >= 0; slot--) {
    const node = shard.slotNode(slot)
    if (node === 0) continue
    used++
    const at = node >>> 2
    if ((node & 3) !== 0 || node < start || node + NODE_BYTES > end) {
      throw refuse(`slot ${slot} points to ${node}, which is no node`)
    }
    if (marks[at] !== 0) throw refuse(`the node at ${node} is in two slots`)
    marks[at] = NODE_MARK
    const head = words[at] ?? 0
    const size = head & 0xff
    const name = node + NODE_BYTES + SET_REF_BYTES * ((head >>> 8) & SETS_PER_NODE_MAX)
    if (name + size > end) throw refuse('a node overruns')
    if (((head >>> 16) & NAMESPACES_MAX) >= namespaceCount)
      throw refuse('a node is in no namespace')
    if (!isRelativeName(bytes, name, size)) throw refuse(`the node at ${node} has an invalid name`)
    takeRoom(found, name + size - node)
  }
  const count = shard.field(HEADER.NODE_COUNT)
  if (used !== count) throw refuse(`the index has ${used} of ${count} nodes`)
}

/** Refuses overlaps, which could make the check take unbounded time. */
function takeRoom(found: Found, byteCount: number): void {
  found.byteCount += byteCount
  if (found.byteCount > found.end - found.start) throw refuse('nodes or sets overlap')
}

function checkNodeSets(found: Found): void {
  const { shard } = found
  const { words } = shard
  for (let slot = shard.field(HEADER.SLOT_COUNT) - 1; slot >= 0; slot--) {
    const node = shard.slotNode(slot)
    if (node === 0) continue
    let ref = (node + NODE_BYTES) >>> 2
    for (let left = shard.setCount(node); left > 0; left--) {
      checkSet(found, words[ref + 1] ?? 0, words[ref] ?? 0)
      ref += SET_REF_WORDS
    }
  }
}

function checkAddresses(found: Found, table: AddressTable): void {
  const namespaceCount = found.shard.field(HEADER.NAMESPACE_COUNT)
  for (let i = 0; i < table.count; i++) {
    const info = table.info(i)
    const set = table.set(i)
    const count = info >>> 16
    if ((info & NAMESPACES_MAX) >= namespaceCount) throw refuse('an address is in no namespace')
    if (count > 0 || set !== 0) checkSet(found, set, TYPE.PTR | (count << 16))
    else if (!table.isPod(i)) throw refuse('an address has neither names nor a Pod')
    if (i > 0 && table.isOutOfOrder(i)) throw refuse('addresses are out of order')
  }
}

/**
 * Checks a set once; refuses a second reference with another type or count.
 * @param reading its type, and its number of records in the upper 16 bits
 */
function checkSet(found: Found, set: number, reading: number): void {
  const { shard, marks, start, end } = found
  const at = set >>> 2
  if ((set & 3) !== 0 || set < start || set + 4 > end) throw refuse(`no set is at ${set}`)
  if (reading >>> 16 === 0) throw refuse(`the set at ${set} is empty`)
  if (marks[at] === reading) return
  if (marks[at] !== 0) throw refuse(`the set at ${set} is used in two ways`)
  marks[at] = reading
  const type = reading & 0xffff
  const form = shard.setForm(set)
  const isAddress = type === TYPE.A || type === TYPE.AAAA
  if (isAddress !== (form === FORM.FIXED) || (form === FORM.TARGETS && type !== TYPE.SRV)) {
    throw refuse(`the set at ${set} has form ${form}, which type ${type} does not have`)
  }
  if (form > FORM.PARTS) throw refuse(`the set at ${set} has the unknown form ${form}`)
  let last = set + 4
  if (form === FORM.PARTS) {
    for (let left = reading >>> 16; left > 0; left--) last = checkParts(found, type, last)
  } else {
    last += (reading >>> 16) * itemBytes(type)
    if (last > end) throw refuse(`the set at ${set} overruns`)
    if (form === FORM.TARGETS) checkTargets(found, set, last)
  }
  takeRoom(found, last - set)
}

function checkTargets({ shard, marks }: Found, set: number, end: number): void {
  const { words } = shard
  for (let item = set + 4; item < end; item += TARGET_BYTES) {
    const node = words[(item >>> 2) + 2] ?? 0
    if ((node & 3) !== 0 || marks[node >>> 2] !== NODE_MARK) {
      throw refuse(`the set at ${set} has a target that is no node`)
    }
  }
}

function itemBytes(type: number): number {
  if (type === TYPE.A) return 4
  return type === TYPE.AAAA ? 16 : TARGET_BYTES
}

/** Checks that an item, with its name joined to the root, is valid rdata. Returns its end. */
function checkParts({ shard, end }: Found, type: number, at: number): number {
  const { bytes } = shard
  const size = shard.uint16(at)
  const nameSize = shard.uint16(at + 2)
  const name = at + PARTS_BYTES + size
  const next = name + Math.max(0, nameSize - 1)
  if (next > end) throw refuse('a record overruns')
  if (nameSize > 0 && !isRelativeName(bytes, name, nameSize - 1)) {
    throw refuse(`the record at ${at} has an invalid name`)
  }
  // A relative name alone, as in all pointers, needs no further check.
  if (size === 0 && nameSize > 0 && NAME_OFFSETS[type] === 0) return next
  const rdata = new Uint8Array(size + nameSize)
  rdata.set(bytes.subarray(at + PARTS_BYTES, next))
  if (!isValidRdata(type, rdata)) throw refuse(`the record at ${at} is not of type ${type}`)
  if (nameSize > 0 && !endsInName(type, rdata, size)) {
    throw refuse(`the record at ${at} has a name where type ${type} has none`)
  }
  return next
}

function endsInName(type: number, rdata: Uint8Array, at: number): boolean {
  return NAME_OFFSETS[type] === at && nameEnd(rdata, at) === rdata.length
}

/**
 * Returns whether the name is labels of 1 to 63 bytes that end exactly at `size`. The caller has
 * checked the bounds. A name in capitals is harmless: no look-up finds it.
 */
function isRelativeName(bytes: Uint8Array, start: number, size: number): boolean {
  if (size >= NAME_BYTES_MAX) return false
  let at = start
  while (at < start + size) {
    const length = byteAt(bytes, at)
    if (length === 0 || length > 63) return false
    at += length + 1
  }
  return at === start + size
}
