import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { RequestMemory } from '../../../src/server/http/request-memory.ts'

class Holder {
  bytes = 0
  isDropped = false
  private readonly budget: RequestMemory

  constructor(budget: RequestMemory) {
    this.budget = budget
    budget.add(this)
  }

  heldBytes(): number {
    return this.bytes
  }

  dropRequests(): void {
    this.isDropped = true
    this.bytes = 0
  }

  take(bytes: number): void {
    this.bytes += bytes
    this.budget.held(bytes)
  }
}

describe('RequestMemory', () => {
  test('drops the bodies of the largest holder for those of others', () => {
    const budget = new RequestMemory(100)
    const [small, large, other] = [new Holder(budget), new Holder(budget), new Holder(budget)]
    small.take(10)
    large.take(60)
    other.take(30)
    assert.equal(large.isDropped, false)
    small.take(1)
    assert.deepEqual(
      [small, large, other].map(({ isDropped }) => isDropped),
      [false, true, false],
    )
  })

  test('does not count bodies that were completed meanwhile, nor holders that have gone', () => {
    const budget = new RequestMemory(100)
    const [first, second] = [new Holder(budget), new Holder(budget)]
    for (let i = 0; i < 50; i++) {
      first.take(90)
      first.bytes = 0
    }
    second.take(90)
    assert.deepEqual([first.isDropped, second.isDropped], [false, false])
    budget.delete(second)
    first.take(90)
    assert.deepEqual([first.isDropped, second.isDropped], [false, false])
  })
})
