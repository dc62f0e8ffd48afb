import assert from 'node:assert/strict'
import { test } from 'vitest'
import { HeldChanges } from '../../../src/cluster/follow/held-changes.ts'

test('changes wait while they are held, and are applied in their order', () => {
  const held = new HeldChanges()
  const seen: number[] = []
  const change = (number: number): void => held.apply(() => seen.push(number))
  change(1)
  held.hold()
  change(2)
  change(3)
  assert.deepEqual([seen, held.areHeld, held.areMany], [[1], true, false])
  assert.equal(held.release(), 2)
  change(4)
  assert.deepEqual([seen, held.areHeld, held.release()], [[1, 2, 3, 4], false, 0])
})

test('so many may wait that what they wait for must end', () => {
  const held = new HeldChanges()
  held.hold()
  for (let i = 0; i < 9999; i++) held.apply(() => undefined)
  assert.equal(held.areMany, false)
  held.apply(() => undefined)
  assert.deepEqual([held.areMany, held.release(), held.areMany], [true, 10_000, false])
})
