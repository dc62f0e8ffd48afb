import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { UnitOwners } from '../../../src/snapshot/write/unit-owners.ts'

type Step = { readonly isAdded: boolean; readonly unit: number; readonly group: string }

function steps(unit: fc.Arbitrary<number>, maxLength: number): fc.Arbitrary<Step[]> {
  const group = fc.constantFrom('a', 'b', 'c')
  return fc.array(fc.record({ isAdded: fc.boolean(), unit, group }), { maxLength })
}

describe('UnitOwners is as if each unit had a set of groups', () => {
  const cases: { name: string; of: fc.Arbitrary<Step[]> }[] = [
    { name: 'for few units', of: steps(fc.nat(2), 20) },
    {
      name: 'for units of one slot',
      of: steps(
        fc.nat(5).map((unit) => unit * 0x10000),
        60,
      ),
    },
    { name: 'for many units', of: steps(fc.integer({ min: -400, max: 400 }), 1000) },
  ]
  for (const { name, of } of cases) {
    test(name, () => {
      fc.assert(
        fc.property(of, (some) => {
          const owners = new UnitOwners()
          const sets = new Map<number, Set<string>>()
          for (const { isAdded, unit, group } of some) {
            const groups = sets.get(unit) ?? new Set()
            sets.set(unit, groups)
            if (isAdded) {
              owners.add(unit, group)
              groups.add(group)
            } else {
              owners.delete(unit, group)
              groups.delete(group)
            }
          }
          for (const [unit, groups] of sets) {
            assert.deepEqual([...owners.of(unit)].sort(), [...groups].sort())
          }
          owners.clear()
          for (const unit of sets.keys()) assert.deepEqual([...owners.of(unit)], [])
        }),
      )
    })
  }
})
