/**
 * Opens a shard from untrusted octets: everything that a look-up follows is checked once, here.
 * @module
 */
import { octet, toLatin1, word } from '../dns/bytes.ts'
import { NAME_BYTES_MAX } from '../dns/limits.ts'
import { isValidRdata, nameEnd } from '../dns/rdata-wire.ts'
import { TYPE } from '../dns/rr-type.ts'
import type { AddressTable } from './address-table.ts'
import { SnapshotError } from './errors.ts'
import {
  FEATURES_KNOWN,
  FORM,
  HEADER,
  MAGIC,
  NODE_BYTES,
  PARTS_BYTES,
  SET_REF_BYTES,
  SHARD_HEADER_BYTES,
  SLOT_BYTES,
  TARGET_BYTES,
} from './layout.ts'
import { Shard } from './shard.ts'

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
 * multiple of four octets.
 * @throws {SnapshotError} with what was found and what was expected
 */
export function openShard(bytes: Uint8Array): Shard {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes)
  if (aligned.length < SHARD_HEADER_BYTES || aligned.length % 4 !== 0) {
    throw refuse(`${aligned.length} octets are no shard`)
  }
  checkHeader(
    new Int32Array(aligned.buffer, aligned.byteOffset, aligned.length / 4),
    aligned.length,
  )
  const shard = new Shard(aligned, readScopes(aligned))
  const found: Found = { marks: new Int32Array(aligned.length / 4), octets: 0 }
  checkNodes(shard, found)
  checkNodeSets(shard, found)
  checkAddresses(shard, found, shard.addresses4)
  checkAddresses(shard, found, shard.addresses6)
  return shard
}

function refuse(what: string): SnapshotError {
  return new SnapshotError(`Cannot open shard: ${what}`)
}

/** Sections must follow each other in the header's order; their counts must fit between them. */
function checkHeader(words: Int32Array, size: number): void {
  const field = (index: number): number => word(words, index) >>> 0
  if (field(HEADER.MAGIC) !== MAGIC) throw refuse('it does not begin with "KDS2"')
  if ((field(HEADER.FEATURES) & ~FEATURES_KNOWN) !== 0) {
    throw refuse(`it needs features ${field(HEADER.FEATURES)}, this build knows ${FEATURES_KNOWN}`)
  }
  if (field(HEADER.BYTES) !== size)
    throw refuse(`${size} octets, header says ${field(HEADER.BYTES)}`)
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
    ['namespaces', field(HEADER.SCOPES), size],
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

function readScopes(bytes: Uint8Array): string[] {
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, SHARD_HEADER_BYTES / 4)
  const scopes: string[] = []
  let at = word(words, HEADER.SCOPES)
  for (let left = word(words, HEADER.SCOPE_COUNT) >>> 0; left > 0; left--) {
    const size = at + 2 <= bytes.length ? octet(bytes, at) | (octet(bytes, at + 1) << 8) : 0
    if (at + 2 + size > bytes.length) throw refuse('a namespace runs over the end')
    scopes.push(textOf(bytes.subarray(at + 2, at + 2 + size)))
    at += 2 + size
  }
  if (scopes[0] !== '') throw refuse('the first namespace is not the empty one')
  return scopes
}

/** Most namespaces are ASCII, which takes no decoder. */
function textOf(bytes: Uint8Array): string {
  return bytes.every((value) => value < 0x80) ? toLatin1(bytes) : new TextDecoder().decode(bytes)
}

/**
 * What was found so far: by each word of the shard, whether a node or a set begins there, and as
 * what the set was read; and the octets of all of them.
 */
type Found = { readonly marks: Int32Array; octets: number }

/** Marks a node. A set's mark, its type and number of records, never has a number of 0. */
const NODE_MARK = 0x10000

/** Goes through the nodes that the index leads to. */
function checkNodes(shard: Shard, found: Found): void {
  const [start, end] = [shard.field(HEADER.NODES), shard.field(HEADER.SETS)]
  const count = shard.field(HEADER.NODE_COUNT)
  let used = 0
  for (let slot = shard.field(HEADER.SLOT_COUNT) - 1; slot >= 0; slot--) {
    const node = shard.slotNode(slot)
    if (node === 0) continue
    used++
    const isPlace = node % 4 === 0 && node >= start && node + NODE_BYTES <= end
    if (!isPlace) throw refuse(`slot ${slot} leads to ${node}, where no node is`)
    if (found.marks[node >>> 2] !== 0) throw refuse(`the node at ${node} is in two slots`)
    found.marks[node >>> 2] = NODE_MARK
    const size = shard.nameOffset(node) + shard.nameBytes(node) - node
    if (node + size > end) throw refuse('a node overruns')
    if (shard.nodeScope(node) >= shard.scopes.length) throw refuse('a node is in no namespace')
    if (!isRelativeName(shard.bytes, shard.nameOffset(node), shard.nameBytes(node))) {
      throw refuse(`the node at ${node} has no proper name`)
    }
    takeRoom(shard, found, size)
  }
  if (used !== count) throw refuse(`the index has ${used} of ${count} nodes`)
}

/** What overlaps would take time without bounds to walk. */
function takeRoom(shard: Shard, found: Found, octets: number): void {
  found.octets += octets
  const room = shard.field(HEADER.SETS_END) - shard.field(HEADER.NODES)
  if (found.octets > room) throw refuse('nodes or sets overlap')
}

function checkNodeSets(shard: Shard, found: Found): void {
  for (let slot = shard.field(HEADER.SLOT_COUNT) - 1; slot >= 0; slot--) {
    const node = shard.slotNode(slot)
    if (node === 0) continue
    let ref = node + NODE_BYTES
    for (let left = shard.setCount(node); left > 0; left--) {
      checkSet(shard, found, shard.refSet(ref), shard.refType(ref), shard.refCount(ref))
      ref += SET_REF_BYTES
    }
  }
}

function checkAddresses(shard: Shard, found: Found, table: AddressTable): void {
  for (let i = 0; i < table.count; i++) {
    if (table.scope(i) >= shard.scopes.length) throw refuse('an address is in no namespace')
    const [set, count] = [table.set(i), table.targetCount(i)]
    if (count > 0 || set !== 0) checkSet(shard, found, set, TYPE.PTR, count)
    else if (!table.isPod(i)) throw refuse('an address says nothing')
    if (i > 0 && table.isOutOfOrder(i)) {
      throw refuse('addresses are out of order')
    }
  }
}

/** Checks a set once; a second reading of it with another type or count is refused. */
function checkSet(shard: Shard, found: Found, set: number, type: number, count: number): void {
  const [start, end] = [shard.field(HEADER.NODES), shard.field(HEADER.SETS_END)]
  if (set % 4 !== 0 || set < start || set + 4 > end) throw refuse(`no set is at ${set}`)
  if (count === 0) throw refuse(`the set at ${set} is empty`)
  const reading = (type << 16) | count
  const known = found.marks[set >>> 2]
  if (known === reading) return
  if (known !== 0) throw refuse(`the set at ${set} is used in two ways`)
  found.marks[set >>> 2] = reading
  const form = shard.setForm(set)
  const isAddress = type === TYPE.A || type === TYPE.AAAA
  if (isAddress !== (form === FORM.FIXED) || (form === FORM.TARGETS && type !== TYPE.SRV)) {
    throw refuse(`the set at ${set} has form ${form}, which type ${type} does not have`)
  }
  if (form > FORM.PARTS) throw refuse(`the set at ${set} has the unknown form ${form}`)
  let at = set + 4
  for (let left = count; left > 0; left--) {
    at = form === FORM.PARTS ? checkParts(shard, type, at, end) : at + itemBytes(type)
    if (at > end) throw refuse(`the set at ${set} overruns`)
    if (form === FORM.TARGETS && !isNode(found, word(shard.words, (at - 4) >>> 2))) {
      throw refuse(`the set at ${set} has a target that is no node`)
    }
  }
  takeRoom(shard, found, at - set)
}

function isNode({ marks }: Found, offset: number): boolean {
  return offset % 4 === 0 && marks[offset >>> 2] === NODE_MARK
}

function itemBytes(type: number): number {
  if (type === TYPE.A) return 4
  return type === TYPE.AAAA ? 16 : TARGET_BYTES
}

/**
 * Checks that an item is rdata of its type when its name is joined to the root. Returns its end.
 */
function checkParts(shard: Shard, type: number, at: number, end: number): number {
  if (at + PARTS_BYTES > end) throw refuse('a record overruns')
  const size = shard.uint16(at)
  const nameSize = shard.uint16(at + 2)
  const name = at + PARTS_BYTES + size
  const next = name + Math.max(0, nameSize - 1)
  if (next > end) throw refuse('a record overruns')
  if (nameSize > 0 && !isRelativeName(shard.bytes, name, nameSize - 1)) {
    throw refuse(`the record at ${at} has no proper name`)
  }
  // A name below the origin and nothing else, as all pointers have it, needs no further look.
  if (size === 0 && nameSize > 0 && NAME_OFFSETS[type] === 0) return next
  const rdata = new Uint8Array(size + nameSize)
  rdata.set(shard.bytes.subarray(at + PARTS_BYTES, next))
  if (!isValidRdata(type, rdata)) throw refuse(`the record at ${at} is not of type ${type}`)
  if (nameSize > 0 && !endsInName(type, rdata, size)) {
    throw refuse(`the record at ${at} has a name where type ${type} has none`)
  }
  return next
}

function endsInName(type: number, rdata: Uint8Array, at: number): boolean {
  return NAME_OFFSETS[type] === at && nameEnd(rdata, at) === rdata.length
}

/** Labels of 1 to 63 octets that end exactly at `size`. One in capitals would never be found. */
function isRelativeName(bytes: Uint8Array, start: number, size: number): boolean {
  if (size >= NAME_BYTES_MAX || start + size > bytes.length) return false
  let at = start
  while (at < start + size) {
    const length = octet(bytes, at)
    if (length === 0 || length > 63) return false
    at += length + 1
  }
  return at === start + size
}
