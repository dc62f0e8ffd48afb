/**
 * Lists the records of a shard, for tools; the answer path looks names up instead.
 * @module
 */
import { concatBytes } from '../../dns/bytes/bytes.ts'
import { reverseName } from '../../dns/names/address.ts'
import { CLASS } from '../../dns/names/rr-class.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import type { ResourceRecord } from '../../dns/wire/message.ts'
import type { AddressTable } from '../format/address-table.ts'
import {
  FORM,
  HEADER,
  NODE_BYTES,
  PARTS_BYTES,
  SET_REF_BYTES,
  TARGET_BYTES,
} from '../format/layout.ts'
import { Shard } from './shard.ts'

/** Lists the records of a shard below `origin`, in the order of the shard. */
export function* shardRecords(shard: Shard, origin: Uint8Array): Generator<ResourceRecord> {
  for (const node of shard.nodes()) {
    const owner = nodeName(shard, node, origin)
    for (const ref of shard.refs(node)) {
      const [set, count, type] = [shard.refSet(ref), shard.refCount(ref), shard.refType(ref)]
      for (const rdata of setRdata(shard, { set, count, type, origin })) {
        yield { owner, type, class: CLASS.IN, ttlSeconds: shard.setTtl(set), rdata }
      }
    }
  }
  yield* pointerRecords(shard, shard.addresses4, origin)
  yield* pointerRecords(shard, shard.addresses6, origin)
}

function* pointerRecords(
  shard: Shard,
  table: AddressTable,
  origin: Uint8Array,
): Generator<ResourceRecord> {
  for (let i = 0; i < table.count; i++) {
    if (table.targetCount(i) === 0 || table.isYielding(i)) continue
    const owner = reverseName(table.address(i))
    const set = table.set(i)
    const ttlSeconds = shard.setTtl(set)
    const items = setRdata(shard, { set, count: table.targetCount(i), type: TYPE.PTR, origin })
    for (const rdata of items) yield { owner, type: TYPE.PTR, class: CLASS.IN, ttlSeconds, rdata }
  }
}

/** An RRset of a shard, and the origin of its relative names. */
export type SetPlace = {
  readonly set: number
  readonly count: number
  readonly type: number
  readonly origin: Uint8Array
}

/** Returns the records of an RRset, at an owner. */
export function setRecords(shard: Shard, place: SetPlace, owner: Uint8Array): ResourceRecord[] {
  const { type } = place
  const ttlSeconds = shard.setTtl(place.set)
  return setRdata(shard, place).map((rdata) => {
    return { owner, type, class: CLASS.IN, ttlSeconds, rdata }
  })
}

function setRdata(shard: Shard, place: SetPlace): Uint8Array[] {
  const form = shard.setForm(place.set)
  if (form === FORM.FIXED) return fixedRdata(shard, place)
  return form === FORM.TARGETS ? targetRdata(shard, place) : partsRdata(shard, place)
}

function fixedRdata({ bytes }: Shard, { set, count, type }: SetPlace): Uint8Array[] {
  const size = type === TYPE.A ? 4 : 16
  return Array.from({ length: count }, (_, i) => {
    const start = set + 4 + size * i
    return bytes.slice(start, start + size)
  })
}

function targetRdata(shard: Shard, { set, count, origin }: SetPlace): Uint8Array[] {
  return Array.from({ length: count }, (_, i) => {
    const item = set + 4 + TARGET_BYTES * i
    const node = shard.targetNode(set, i)
    return concatBytes(shard.bytes.subarray(item, item + 6), nodeName(shard, node, origin))
  })
}

function partsRdata(shard: Shard, { set, count, origin }: SetPlace): Uint8Array[] {
  const found: Uint8Array[] = []
  let item = set + 4
  for (let i = 0; i < count; i++) {
    const size = shard.uint16(item)
    const nameSize = shard.uint16(item + 2) - 1
    const start = item + PARTS_BYTES
    const end = start + size + Math.max(0, nameSize)
    const own = shard.bytes.subarray(start, end)
    found.push(nameSize < 0 ? own.slice() : concatBytes(own, origin))
    item = end
  }
  return found
}

function nodeName(shard: Shard, node: number, origin: Uint8Array): Uint8Array {
  const start = shard.nameOffset(node)
  return concatBytes(shard.bytes.subarray(start, start + shard.nameBytes(node)), origin)
}

/** Counts the records of a shard that was just built, without glue. */
export function countRecords(bytes: Uint8Array): number {
  const shard = new Shard(bytes, [])
  let records = 0
  for (let slot = shard.field(HEADER.SLOT_COUNT) - 1; slot >= 0; slot--) {
    const node = shard.slotNode(slot)
    if (node === 0 || shard.isGlue(node)) continue
    const end = shard.nameOffset(node)
    for (let ref = node + NODE_BYTES; ref < end; ref += SET_REF_BYTES)
      records += shard.refCount(ref)
  }
  for (const table of [shard.addresses4, shard.addresses6]) {
    for (let i = 0; i < table.count; i++) {
      if (!table.isYielding(i)) records += table.targetCount(i)
    }
  }
  return records
}
