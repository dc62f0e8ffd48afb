import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { addressUnit } from '../../../src/snapshot/format/shard-key.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import { AddressRows } from '../../../src/snapshot/write/address-rows.ts'
import { ByteBuffer } from '../../../src/snapshot/write/byte-buffer.ts'
import { KeptRows } from '../../../src/snapshot/write/kept-rows.ts'
import { buildShard } from '../../../src/snapshot/write/shard-writer.ts'
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
  return new KeptRows(SHARD.bytes, { table: SHARD.addresses4, setsEnd: SETS_END }, units)
}

function copied(some: KeptRows, namespaceIds?: Int32Array): { rows: AddressRows; out: ByteBuffer } {
  const into = { rows: new AddressRows(), out: new ByteBuffer() }
  some.copy({ from: 0, to: some.count }, into, namespaceIds)
  return into
}

describe('KeptRows', () => {
  test('copies all with their sets', () => {
    const { rows, out } = copied(kept())
    assert.deepEqual(rows.sets, [
      0,
      SHARD.addresses4.set(1) - SETS,
      0,
      SHARD.addresses4.set(3) - SETS,
    ])
    assert.deepEqual(out.bytes.slice(0, out.size), SHARD.bytes.slice(SETS, SETS_END))
  })

  test('copies what is left of them', () => {
    const { rows, out } = copied(kept(1, 2))
    assert.deepEqual(rows.parts, [0xc0000203 | 0, 0xc0000204 | 0])
    assert.deepEqual(
      out.bytes.slice(0, out.size),
      SHARD.bytes.slice(SHARD.addresses4.set(3), SETS_END),
    )
    const around = copied(kept(2))
    assert.deepEqual(around.rows.sets, [0, 0, 12])
    assert.equal(around.out.size, 24)
  })

  test('gives namespaces their new numbers, and leaves marks and counts', () => {
    const { rows } = copied(kept(), Int32Array.of(0, 5))
    assert.deepEqual(rows.infos, [0x10000, 0x10000, 0x8005, 0x10005])
  })

  test('finds where an address belongs', () => {
    const at = (last: number): number => kept(2).firstBehind(Uint8Array.of(192, 0, 2, last), 0)
    assert.deepEqual([at(0), at(2), at(5)], [0, 1, 3])
  })
})
