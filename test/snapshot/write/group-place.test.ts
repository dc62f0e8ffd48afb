import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { addressKey } from '../../../src/snapshot/format/shard-key.ts'
import { GroupPlace, unitOf } from '../../../src/snapshot/write/group-place.ts'
import { pointer, recordSet } from '../entries.ts'

const WEB = recordSet('web.shop.svc 5 IN A 192.0.2.1')
const BELOW = recordSet('a.web.shop.svc 5 IN A 192.0.2.2')
const BACK = pointer([192, 0, 2, 2], 'a.web.shop.svc')

describe('GroupPlace', () => {
  test('has one unit for all below three labels, and one for each address', () => {
    const place = new GroupPlace([BACK, WEB, BELOW, pointer([192, 0, 2, 1], 'web.shop.svc')], 4)
    assert.equal(place.count, 3)
    assert.equal(place.unit(0), unitOf(WEB))
    assert.equal(place.key(0), unitOf(WEB))
    assert.equal(place.unit(1), unitOf(BACK))
    assert.equal(place.key(1), addressKey(Uint8Array.of(192, 0, 2, 99)))
  })

  test('finds what is said alike, wherever the search begins', () => {
    const before = new GroupPlace([WEB, BACK], 2)
    const after = new GroupPlace([WEB, BELOW, BACK], 3)
    for (const hint of [0, 1, 2]) {
      assert.equal(before.indexOfSame(after, 0, hint), -1)
      assert.equal(before.indexOfSame(after, 1, hint), 1)
    }
  })

  test('tells whether it has names in some units', () => {
    const place = new GroupPlace([WEB, BACK], 2)
    assert.equal(place.hasNamesIn(new Set([unitOf(BACK)])), false)
    assert.equal(place.hasNamesIn(new Set([unitOf(BACK), unitOf(BELOW)])), true)
  })
})
