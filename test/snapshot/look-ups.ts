/**
 * Every look-up that a shard offers, on bytes that are watched: a read out of bounds throws, and
 * so does a look-up without an end.
 * @module
 */

import assert from 'node:assert/strict'
import { asWordBytes } from '../../src/dns/bytes/bytes.ts'
import { TYPE } from '../../src/dns/names/rr-type.ts'
import { parseResponse } from '../../src/dns/wire/message.ts'
import { parseQuery } from '../../src/dns/wire/query.ts'
import { ReplyWriter } from '../../src/dns/wire/reply-writer.ts'
import { writeQuery } from '../../src/dns/wire/write-query.ts'
import type { AddressTable } from '../../src/snapshot/format/address-table.ts'
import { SetWriter } from '../../src/snapshot/read/set-writer.ts'
import { Shard } from '../../src/snapshot/read/shard.ts'
import { nodesOf } from './contents.ts'
import { ORIGIN } from './entries.ts'

/** More than any look-up in the small shards of these tests reads. */
const READS_MAX = 500_000

const ROOM = { bytesMax: 65_535 }

/**
 * Looks up names, all nodes, all sets, all addresses, and writes all of them.
 * @throws {AssertionError} at a read out of bounds or one too many
 */
export function lookUpEverything(
  opened: Shard,
  asked: { readonly names: readonly Uint8Array[]; readonly addresses: readonly Uint8Array[] },
): void {
  const shard = watchedShard(opened)
  const sets = new SetWriter(new ReplyWriter())
  sets.origin = asWordBytes(ORIGIN)
  for (const name of asked.names) {
    const node = shard.findNode(name, name.length)
    const words = new Int32Array(64)
    new Uint8Array(words.buffer).set(name)
    assert.equal(shard.findName(words, name.length), node)
    if (node !== 0) lookUpNode(shard, node, sets)
  }
  for (const node of nodesOf(shard)) lookUpNode(shard, node, sets)
  for (const table of [shard.addresses4, shard.addresses6]) {
    for (const address of asked.addresses) lookUpAddress(shard, table, address, sets)
    for (let i = 0; i < table.count; i++) lookUpAddress(shard, table, table.address(i), sets)
  }
}

function lookUpNode(shard: Shard, node: number, sets: SetWriter): void {
  assert.ok(shard.namespaces[shard.nodeNamespaceId(node)] !== undefined)
  for (let i = 0; i < shard.setCount(node); i++) {
    const ref = node + 4 + 8 * i
    assert.ok(shard.findSet(node, shard.refType(ref)) > 0)
    write(sets, () => {
      sets.writeAnswer(shard, ref)
      sets.writeTargetAddresses(shard, ref)
      sets.writeAdditional(shard, node)
    })
  }
}

function lookUpAddress(
  shard: Shard,
  table: AddressTable,
  address: Uint8Array,
  sets: SetWriter,
): void {
  const wanted = new Uint8Array(16)
  wanted.set(address)
  const first = table.firstFrom(wanted)
  assert.ok(first <= table.count)
  for (const bitCount of [0, 8, 31, 32]) table.hasPrefix(first, wanted, bitCount)
  if (first === table.count) return
  assert.ok(shard.namespaces[table.namespaceId(first)] !== undefined)
  write(sets, () => {
    sets.writeSet(shard, table.set(first), table.targetCount(first), TYPE.PTR)
  })
}

/** Writes a reply, which must be well-formed when it is done. */
function write(sets: SetWriter, step: () => void): void {
  const { reply } = sets
  const query = parseQuery(writeQuery({ name: ORIGIN, type: TYPE.ANY }))
  assert.ok(query.kind === 'query')
  sets.rotation = () => 7
  reply.begin(query, ROOM)
  step()
  assert.ok(reply.length <= ROOM.bytesMax)
  assert.ok(parseResponse(reply.bytes.subarray(0, reply.finish(0, 0))))
}

/** The same shard over watched arrays, those of its address tables too. */
function watchedShard(opened: Shard): Shard {
  const counter = { reads: 0 }
  const shard = new Shard(watched(opened.bytes, counter), opened.namespaces)
  const words = watched(opened.words, counter)
  for (const holder of [shard, shard.addresses4, shard.addresses6]) Object.assign(holder, { words })
  return shard
}

function watched<T extends Uint8Array | Int32Array>(array: T, counter: { reads: number }): T {
  return new Proxy(array, {
    get(target, key) {
      if (typeof key === 'string' && /^-?[\dN]/.test(key)) {
        assert.ok(Object.hasOwn(target, key), `read of ${key} in ${target.length}`)
        assert.ok(++counter.reads < READS_MAX, 'a look-up without an end')
      }
      if (key === 'subarray') {
        return (start: number, end: number) => {
          assert.ok(0 <= start && start <= end && end <= target.length, `part ${start} to ${end}`)
          return watched(target.subarray(start, end), counter)
        }
      }
      return Reflect.get(target, key, target)
    },
  })
}
