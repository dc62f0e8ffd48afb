import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { Slots } from '../../../../src/resolver/plugins/secondary/secondary-zone.ts'
import { settle } from '../../../fake-host.ts'

describe('slots', () => {
  test('let so many things be under way, and the others in their order', async () => {
    const slots = new Slots(2)
    const begun: number[] = []
    const ends: (() => void)[] = []
    const results = [1, 2, 3, 4].map((i) =>
      slots.run(async () => {
        begun.push(i)
        await new Promise<void>((resolve) => ends.push(resolve))
        return i
      }),
    )
    await settle()
    assert.deepEqual(begun, [1, 2])
    ends[1]?.()
    await settle()
    assert.deepEqual(begun, [1, 2, 3])
    for (const end of ends) end()
    await settle()
    ends[3]?.()
    assert.deepEqual(await Promise.all(results), [1, 2, 3, 4])
  })

  test('are free again after a failure', async () => {
    const slots = new Slots(1)
    await assert.rejects(
      slots.run(() => Promise.reject(new Error('no'))),
      { message: 'no' },
    )
    assert.equal(await slots.run(() => Promise.resolve(1)), 1)
  })
})
