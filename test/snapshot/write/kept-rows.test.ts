import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { addressUnit } from '../../../src/snapshot/format/shard-key.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import { buildShard } from '../../../src/snapshot/write/build-shards.ts'
import { NO_INDEX } from '../../../src/snapshot/write/index-plan.ts'
import { KeptRows } from '../../../src/snapshot/write/kept-rows.ts'
import { draftPointers } from '../../../src/snapshot/write/pointer-drafts.ts'
import { type AddressRows, ShardWriter } from '../../../src/snapshot/write/shard-writer.ts'
import { pointer } from '../entries.ts'

/** Rows for 192.0.2.1 to 192.0.2.4; the third is of a Pod alone. */
const SHARD = openShard(
  buildShard([
    pointer([192, 0, 2, 1], 'a'),
    pointer([192, 0, 2, 2], 'bb'),
    { kind: 'pod-address', address: Uint8Array.of(192, 0, 2, 3), namespace: 'shop' },
    pointer([192, 0, 2, 4], 'c', { namespace: 'shop' }),
  ]).bytes,
)

/** Sets of the rows, 12, 16 (with one byte to spare) and 12 bytes. */
const SETS = SHARD.addresses4.set(0)
const SETS_END = SHARD.field(9)

function kept(...replaced: number[]): KeptRows {
  const units = new Set(replaced.map((last) => addressUnit(Uint8Array.of(192, 0, 2, last))))
  return new KeptRows({ shard: SHARD, table: SHARD.addresses4, setsEnd: SETS_END }, units)
}

/** Returns the rows, with offsets from the first RRset, and the bytes of the RRsets. */
function copied(
  some: KeptRows,
  {
    namespaces = SHARD.namespaces,
    added = [],
  }: { namespaces?: readonly string[]; added?: number[] } = {},
): { rows: AddressRows; sets: number[]; bytes: Uint8Array } {
  const writer = new ShardWriter(namespaces, NO_INDEX)
  const start = writer.out.size
  const pointers = added.map((last) => pointer([192, 0, 2, last], 'dd'))
  some.writeWith(draftPointers(pointers), writer)
  const { rows4: rows, out } = writer
  const sets = rows.sets.map((set) => (set === 0 ? -1 : set - start))
  return { rows, sets, bytes: out.bytes.slice(start, out.size) }
}

describe('KeptRows', () => {
  test('copies all rows with their RRsets', () => {
    const { sets, bytes } = copied(kept())
    const offsets = [1, 3].map((row) => SHARD.addresses4.set(row) - SETS)
    assert.deepEqual(sets, [0, offsets[0], -1, offsets[1]])
    assert.deepEqual(bytes, SHARD.bytes.slice(SETS, SETS_END))
  })

  test('leaves out the rows of replaced units', () => {
    const { rows, bytes } = copied(kept(1, 2))
    assert.deepEqual(rows.parts, [0xc0000203 | 0, 0xc0000204 | 0])
    assert.deepEqual(bytes, SHARD.bytes.slice(SHARD.addresses4.set(3), SETS_END))
    const around = copied(kept(2))
    assert.deepEqual(around.sets, [0, -1, 12])
    assert.equal(around.bytes.length, 24)
  })

  test('renumbers namespaces, and keeps marks and counts', () => {
    const { rows } = copied(kept(), { namespaces: ['', 'a', 'b', 'shop'] })
    assert.deepEqual(rows.infos, [0x10000, 0x10000, 0x8003, 0x10003])
  })

  test('merges new rows by address', () => {
    const { rows } = copied(kept(2), { added: [0, 2, 5] })
    const last = rows.parts.map((part) => part & 255)
    assert.deepEqual(last, [0, 1, 2, 3, 4, 5])
  })
})
