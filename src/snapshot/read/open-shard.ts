/**
 * Opens a shard from untrusted bytes: everything that a look-up follows is checked once, here.
 * @module
 */
import { byteAt, word } from '../../bytes/bytes.ts'
import { NAME_BYTES_MAX } from '../../dns/limits.ts'
import { isValidRdata, nameEnd } from '../../dns/rdata-wire.ts'
import { TYPE } from '../../dns/rr-type.ts'
import type { AddressTable } from '../format/address-table.ts'
import { SnapshotError } from '../format/errors.ts'
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
  TARGET_BYTES,
} from '../format/layout.ts'
import { Shard } from './shard.ts'

const SET_REF_WORDS = SET_REF_BYTES / 4

/** Where the name begins that ends the rdata of a type. */
const NAME_OFFSETS: Readonly<Record<number, number>> = {
  [TYPE.NS]: 0,
  [TYPE.CNAME]: 0,
  [TYPE.PTR]: 0,
  [TYPE.DNAME]: 0,
  [TYPE.MX]: 2,
  [TYPE.SRV]: 6,
}

/**
 * Checks and opens a shard. Holds a reference to `bytes`, or to a copy when they do not begin at a
 * multiple of four bytes.
 * @throws {SnapshotError} with what was found and what was expected
 */
export function openShard(bytes: Uint8Array): Shard {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes)
  if (aligned.length < SHARD_HEADER_BYTES || aligned.length % 4 !== 0) {
    throw refuse(`${aligned.length} bytes are no shard`)
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
    octets: 0,
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

/** Sections must follow each other in the header's order; their counts must fit between them. */
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

/** Namespaces are texts behind their sizes; the first is the empty one. */
function checkNamespaces(bytes: Uint8Array, words: Int32Array): void {
  const start = word(words, HEADER.NAMESPACES)
  const count = word(words, HEADER.NAMESPACE_COUNT) >>> 0
  let at = start
  for (let left = count; left > 0; left--) {
    if (at + 2 > bytes.length) throw refuse('a namespace runs over the end')
    at += 2 + (byteAt(bytes, at) | (byteAt(bytes, at + 1) << 8))
  }
  if (at > bytes.length) throw refuse('a namespace runs over the end')
  if (count === 0 || bytes[start] !== 0 || bytes[start + 1] !== 0) {
    throw refuse('the first namespace is not the empty one')
  }
}

/** Marks a node. A set's mark, its type and number of records, never has a number of 0. */
const NODE_MARK = 1

/** A shard, and what was found in it so far. */
type Found = {
  readonly shard: Shard
  /** Where nodes begin, and where sets end. */
  readonly start: number
  readonly end: number
  /** By each word of the shard, whether a node begins there, or as what a set there was read. */
  readonly marks: Int32Array
  /** Bytes of all nodes and sets. */
  octets: number
}

// What follows is gone through when a gateway begins, before any compiler has seen it: it has loops
// in which little is called.

/** Goes through the nodes that the index leads to. */
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
      throw refuse(`slot ${slot} leads to ${node}, where no node is`)
    }
    if (marks[at] !== 0) throw refuse(`the node at ${node} is in two slots`)
    marks[at] = NODE_MARK
    const head = words[at] ?? 0
    const size = head & 0xff
    const name = node + NODE_BYTES + SET_REF_BYTES * ((head >>> 8) & SETS_PER_NODE_MAX)
    if (name + size > end) throw refuse('a node overruns')
    if (((head >>> 16) & NAMESPACES_MAX) >= namespaceCount)
      throw refuse('a node is in no namespace')
    if (!isRelativeName(bytes, name, size)) throw refuse(`the node at ${node} has no proper name`)
    takeRoom(found, name + size - node)
  }
  const count = shard.field(HEADER.NODE_COUNT)
  if (used !== count) throw refuse(`the index has ${used} of ${count} nodes`)
}

/** What overlaps would take time without bounds to walk. */
function takeRoom(found: Found, octets: number): void {
  found.octets += octets
  if (found.octets > found.end - found.start) throw refuse('nodes or sets overlap')
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
    else if (!table.isPod(i)) throw refuse('an address says nothing')
    if (i > 0 && table.isOutOfOrder(i)) throw refuse('addresses are out of order')
  }
}

/**
 * Checks a set once; a second reading of it with another type or count is refused.
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

/**
 * Checks that an item is rdata of its type when its name is joined to the root. Returns its end.
 */
function checkParts({ shard, end }: Found, type: number, at: number): number {
  const { bytes } = shard
  const size = shard.uint16(at)
  const nameSize = shard.uint16(at + 2)
  const name = at + PARTS_BYTES + size
  const next = name + Math.max(0, nameSize - 1)
  if (next > end) throw refuse('a record overruns')
  if (nameSize > 0 && !isRelativeName(bytes, name, nameSize - 1)) {
    throw refuse(`the record at ${at} has no proper name`)
  }
  // A name below the origin and nothing else, as all pointers have it, needs no further look.
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
 * Labels of 1 to 63 bytes that end exactly at `size`. One in capitals would never be found. The
 * caller has checked that they are inside `bytes`.
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
