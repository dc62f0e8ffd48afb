/**
 * Opens a shard from untrusted octets: everything that a look-up follows is checked once, here.
 * @module
 */
import { octet, word } from '../dns/bytes.ts'
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
    new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length / 4),
    aligned.length,
  )
  const shard = new Shard(aligned, readScopes(aligned))
  const found = checkNodes(shard)
  checkSlots(shard, found.nodes)
  checkAddresses(shard, found, shard.addresses4)
  checkAddresses(shard, found, shard.addresses6)
  return shard
}

function refuse(what: string): SnapshotError {
  return new SnapshotError(`Cannot open shard: ${what}`)
}

/** Sections must follow each other in the header's order; their counts must fit between them. */
function checkHeader(words: Uint32Array, size: number): void {
  const field = (index: number): number => word(words, index)
  if (field(HEADER.MAGIC) !== MAGIC) throw refuse('it does not begin with "KDS1"')
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
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, SHARD_HEADER_BYTES / 4)
  const scopes: string[] = []
  let at = word(words, HEADER.SCOPES)
  for (let left = word(words, HEADER.SCOPE_COUNT); left > 0; left--) {
    const size = at + 2 <= bytes.length ? octet(bytes, at) | (octet(bytes, at + 1) << 8) : 0
    if (at + 2 + size > bytes.length) throw refuse('a namespace runs over the end')
    scopes.push(new TextDecoder().decode(bytes.subarray(at + 2, at + 2 + size)))
    at += 2 + size
  }
  if (scopes[0] !== '') throw refuse('the first namespace is not the empty one')
  return scopes
}

/** What was found so far: nodes by offset, the one reading of each set, octets of all sets. */
type Found = {
  readonly nodes: ReadonlySet<number>
  readonly sets: Map<number, number>
  setBytes: number
}

/** Walks all nodes, to whose offsets SRV targets and slots must lead. */
function checkNodes(shard: Shard): Found {
  const end = shard.field(HEADER.SETS)
  const nodes = new Set<number>()
  let node = shard.firstNode()
  for (let left = shard.field(HEADER.NODE_COUNT); left > 0; left--) {
    if (node + NODE_BYTES > end || shard.nextNode(node) > end) throw refuse('a node overruns')
    if (shard.nodeScope(node) >= shard.scopes.length) throw refuse('a node is in no namespace')
    if (!isRelativeName(shard.bytes, shard.nameOffset(node), shard.nameBytes(node))) {
      throw refuse(`the node at ${node} has no proper name`)
    }
    nodes.add(node)
    node = shard.nextNode(node)
  }
  const found: Found = { nodes, sets: new Map(), setBytes: 0 }
  for (const offset of nodes) {
    let ref = offset + NODE_BYTES
    for (let left = shard.setCount(offset); left > 0; left--) {
      checkSet(shard, found, {
        type: shard.refType(ref),
        set: shard.refSet(ref),
        count: shard.refCount(ref),
      })
      ref += SET_REF_BYTES
    }
  }
  return found
}

function checkSlots(shard: Shard, nodes: ReadonlySet<number>): void {
  const first = shard.field(HEADER.SLOTS) >>> 2
  let used = 0
  for (let slot = shard.field(HEADER.SLOT_COUNT) - 1; slot >= 0; slot--) {
    const node = word(shard.words, first + (SLOT_BYTES / 4) * slot + 1)
    if (node === 0) continue
    used++
    if (!nodes.has(node)) throw refuse(`slot ${slot} leads to ${node}, where no node is`)
  }
  if (used !== nodes.size) throw refuse(`the index has ${used} of ${nodes.size} nodes`)
}

function checkAddresses(shard: Shard, found: Found, table: AddressTable): void {
  for (let i = 0; i < table.count; i++) {
    if (table.scope(i) >= shard.scopes.length) throw refuse('an address is in no namespace')
    const [set, count] = [table.set(i), table.targetCount(i)]
    if (count > 0 || set !== 0) checkSet(shard, found, { type: TYPE.PTR, set, count })
    else if (!table.isPod(i)) throw refuse('an address says nothing')
    if (i > 0 && table.compare(i - 1, table.address(i)) > 0) {
      throw refuse('addresses are out of order')
    }
  }
}

/**
 * Checks a set once; a second reading of it with another type or count is refused. So are sets that
 * overlap: to walk them would take time without bounds.
 */
function checkSet(
  shard: Shard,
  found: Found,
  { type, set, count }: { type: number; set: number; count: number },
): void {
  const reading = type * 0x10000 + count
  const known = found.sets.get(set)
  if (known === reading) return
  if (known !== undefined) throw refuse(`the set at ${set} is used in two ways`)
  found.sets.set(set, reading)
  const start = shard.field(HEADER.SETS)
  const end = shard.field(HEADER.SETS_END)
  if (set % 4 !== 0 || set < start || set + 4 > end) throw refuse(`no set is at ${set}`)
  if (count === 0) throw refuse(`the set at ${set} is empty`)
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
    if (form === FORM.TARGETS && !found.nodes.has(word(shard.words, (at - 4) >>> 2))) {
      throw refuse(`the set at ${set} has a target that is no node`)
    }
  }
  found.setBytes += at - set
  if (found.setBytes > end - start) throw refuse('sets overlap')
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
