import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { UnitOwners } from '../../src/snapshot/unit-owners.ts'

test('UnitOwners is as if each unit had a set of groups', () => {
  const step = fc.record({
    isAdded: fc.boolean(),
    unit: fc.nat(2),
    group: fc.constantFrom('a', 'b', 'c'),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const owners = new UnitOwners()
      const sets = [0, 1, 2].map(() => new Set<string>())
      for (const { isAdded, unit, group } of steps) {
        if (isAdded) {
          owners.add(unit, group)
          sets[unit]?.add(group)
        } else {
          owners.delete(unit, group)
          sets[unit]?.delete(group)
        }
      }
      for (const [unit, groups] of sets.entries()) {
        assert.deepEqual([...owners.of(unit)].sort(), [...groups].sort())
      }
    }),
  )
})
