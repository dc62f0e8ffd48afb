import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { UnitGroups } from '../../../src/snapshot/write/unit-groups.ts'

type Step = { readonly isAdded: boolean; readonly unit: number; readonly group: number }

function steps(unit: fc.Arbitrary<number>, maxLength: number): fc.Arbitrary<Step[]> {
  const group = fc.constantFrom(1, 2, 3)
  return fc.array(fc.record({ isAdded: fc.boolean(), unit, group }), { maxLength })
}

describe('UnitGroups equals a set of groups for each unit', () => {
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
          const unitGroups = new UnitGroups()
          const sets = new Map<number, Set<number>>()
          for (const { isAdded, unit, group } of some) {
            const groups = sets.get(unit) ?? new Set()
            sets.set(unit, groups)
            if (isAdded) {
              unitGroups.add(unit, group)
              groups.add(group)
            } else {
              unitGroups.delete(unit, group)
              groups.delete(group)
            }
          }
          for (const [unit, groups] of sets) {
            assert.deepEqual([...unitGroups.of(unit)].sort(), [...groups].sort())
          }
          unitGroups.clear()
          for (const unit of sets.keys()) assert.deepEqual([...unitGroups.of(unit)], [])
        }),
      )
    })
  }
})
