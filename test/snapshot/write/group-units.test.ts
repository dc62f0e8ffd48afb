import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { addressKey } from '../../../src/snapshot/format/shard-key.ts'
import { GroupUnits, unitOf } from '../../../src/snapshot/write/group-units.ts'
import { pointer, recordSet } from '../entries.ts'

const WEB = recordSet('web.shop.svc 5 IN A 192.0.2.1')
const BELOW = recordSet('a.web.shop.svc 5 IN A 192.0.2.2')
const BACK = pointer([192, 0, 2, 2], 'a.web.shop.svc')

describe('GroupUnits', () => {
  test('has one unit for all below three labels, and one for each address', () => {
    const units = new GroupUnits([BACK, WEB, BELOW, pointer([192, 0, 2, 1], 'web.shop.svc')])
    assert.equal(units.count, 3)
    assert.equal(units.unit(0), unitOf(WEB))
    assert.equal(units.key(0), unitOf(WEB))
    assert.equal(units.unit(1), unitOf(BACK))
    assert.equal(units.key(1), addressKey(Uint8Array.of(192, 0, 2, 99)))
  })

  test('finds units with the same entries, wherever the search starts', () => {
    const before = new GroupUnits([WEB, BACK])
    const after = new GroupUnits([WEB, BELOW, BACK])
    for (const hint of [0, 1, 2]) {
      assert.equal(before.indexOfSame(after, 0, hint), -1)
      assert.equal(before.indexOfSame(after, 1, hint), 1)
    }
  })

  test('returns whether it has names in some units', () => {
    const units = new GroupUnits([WEB, BACK])
    assert.equal(units.hasNamesIn(new Set([unitOf(BACK)])), false)
    assert.equal(units.hasNamesIn(new Set([unitOf(BACK), unitOf(BELOW)])), true)
  })
})
