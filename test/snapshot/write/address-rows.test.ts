import assert from 'node:assert/strict'
import { test } from 'vitest'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import { AddressRows } from '../../../src/snapshot/write/address-rows.ts'
import { buildShard } from '../../../src/snapshot/write/shard-writer.ts'
import { pointer } from '../entries.ts'

test('AddressRows takes addresses as bytes, and as a table has them', () => {
  const six = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 1]
  const { addresses6 } = openShard(buildShard([pointer(six, 'a')]).bytes)
  const rows = new AddressRows()
  rows.add(Uint8Array.from(six), 64, 7)
  rows.addFrom(addresses6, 0, { set: 68, info: 8 })
  assert.equal(rows.count, 2)
  assert.deepEqual(rows.parts.slice(0, 4), [0x20010db8, 0, 0, 0xff000001 | 0])
  assert.deepEqual(rows.parts.slice(4), rows.parts.slice(0, 4))
  assert.deepEqual(
    [rows.sets, rows.infos],
    [
      [64, 68],
      [7, 8],
    ],
  )
})
