import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { HostBudget, type HostClaim, hostBoundsFor } from '../../../src/cluster/api/host-budget.ts'
import { FakeClock } from '../follow/fake-clock.ts'

class Budget {
  readonly clock: FakeClock = new FakeClock()
  readonly budget: HostBudget
  readonly lines: string[] = []
  readonly claims = new Map<string, HostClaim>()

  constructor(eachMax = 10, wholeMax = 20) {
    const { sleep, elapsed } = this.clock
    this.budget = new HostBudget({ sleep, elapsed, bounds: { eachMax, wholeMax } })
  }

  /** Sets an object, such as `shop/web`, that was created at some time. */
  set(name: string, hosts: number, createdMs: number): void {
    this.remove(name)
    const claim: HostClaim = {
      owner: {
        cut: ({ key }) => this.lines.push(`cut ${key}`),
        readAgain: () => this.lines.push('read again'),
      },
      namespace: name.split('/', 1)[0] ?? '',
      key: name,
      createdMs,
      hosts,
      isCut: false,
      hasRoom: false,
    }
    this.claims.set(name, claim)
    this.budget.add(claim)
  }

  remove(name: string): void {
    const claim = this.claims.get(name)
    if (claim !== undefined) this.budget.remove(claim)
    this.claims.delete(name)
  }

  /** Reads those again for which there is room. */
  readAgain(): void {
    for (const { key, hosts, createdMs, hasRoom } of [...this.claims.values()]) {
      if (hasRoom) this.set(key, hosts, createdMs)
    }
  }

  get cut(): string[] {
    return [...this.claims.values()].flatMap(({ key, isCut }) => (isCut ? [key] : [])).sort()
  }
}

describe('a namespace with too many hostnames', () => {
  test('loses those of its youngest objects, a second later', async () => {
    const budget = new Budget()
    budget.set('a/old', 4, 1)
    budget.set('a/young', 4, 9)
    budget.set('a/middle', 4, 5)
    assert.deepEqual(budget.cut, [])
    await budget.clock.advance(1000)
    assert.deepEqual(budget.lines, ['cut a/young'])
  })

  test('loses them at once when it has a quarter more, and what comes then', () => {
    const budget = new Budget()
    for (let i = 0; i < 20; i++) budget.set(`a/${i}`, 3, i)
    assert.deepEqual(budget.cut.length, 17)
    assert.deepEqual(budget.claims.get('a/2')?.isCut, false)
  })

  test('has smaller ones of the same age and those that are younger where they fit', () => {
    const budget = new Budget()
    budget.set('a/b', 9, 1)
    budget.set('a/a', 5, 1)
    budget.set('a/c', 2, 3)
    budget.budget.settle()
    assert.deepEqual(budget.cut, ['a/b'])
  })

  test('has an older one that comes later', async () => {
    const budget = new Budget()
    budget.set('a/x', 6, 5)
    budget.set('a/y', 6, 6)
    await budget.clock.advance(1000)
    budget.set('a/old', 6, 1)
    await budget.clock.advance(1000)
    assert.deepEqual(budget.cut, ['a/x', 'a/y'])
  })

  test('has them read again when there is room, once in a minute', async () => {
    const budget = new Budget()
    for (let i = 0; i < 4; i++) budget.set(`a/${i}`, 5, i)
    await budget.clock.advance(1000)
    assert.deepEqual(budget.cut, ['a/2', 'a/3'])
    budget.lines.length = 0
    budget.remove('a/0')
    await budget.clock.advance(1000)
    assert.deepEqual(budget.lines, ['read again'])
    budget.readAgain()
    budget.remove('a/1')
    await budget.clock.advance(59_000)
    assert.deepEqual(budget.cut, ['a/3'])
    await budget.clock.advance(1000)
    assert.deepEqual(budget.lines, ['read again', 'read again'])
    budget.readAgain()
    assert.deepEqual(budget.cut, [])
    await budget.clock.advance(1_000_000)
    assert.deepEqual(budget.lines.length, 2)
  })

  test('has room before the minute for those that are older', async () => {
    const budget = new Budget()
    for (let i = 0; i < 4; i++) budget.set(`a/${i}`, 5, i)
    await budget.clock.advance(1000)
    budget.remove('a/0')
    await budget.clock.advance(1000)
    budget.readAgain()
    // Its next settling is a minute away.
    budget.remove('a/1')
    await budget.clock.advance(1000)
    budget.set('a/older', 6, -1)
    await budget.clock.advance(1000)
    assert.deepEqual(budget.cut, ['a/2', 'a/3'])
  })
})

describe('namespaces together', () => {
  test('take from the one with the most', () => {
    const budget = new Budget()
    for (let i = 0; i < 10; i++) budget.set(`a/${i}`, 1, i)
    for (let i = 0; i < 8; i++) budget.set(`b/${i}`, 1, i)
    for (let i = 0; i < 5; i++) budget.set(`c/${i}`, 1, i)
    budget.budget.settle()
    assert.deepEqual(budget.cut, ['a/7', 'a/8', 'a/9', 'b/7'])
  })

  test('have them again when another has fewer', async () => {
    const budget = new Budget()
    for (const name of ['a', 'b', 'c']) {
      for (let i = 0; i < 10; i++) budget.set(`${name}/${i}`, 1, i)
    }
    budget.budget.settle()
    assert.equal(budget.cut.length, 12)
    for (let i = 0; i < 10; i++) budget.remove(`c/${i}`)
    await budget.clock.advance(1000)
    budget.readAgain()
    assert.deepEqual(budget.cut, [])
  })

  test('never have more than the bounds, and the same ones in whatever order', async () => {
    const objects = fc.uniqueArray(
      fc.record({
        name: fc.stringMatching(/^[abc]\/[a-z]$/),
        hosts: fc.integer({ min: 1, max: 6 }),
        createdMs: fc.integer({ min: 0, max: 5 }),
      }),
      { selector: ({ name }) => name, maxLength: 30 },
    )
    const runs = objects.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    )
    await fc.assert(
      fc.asyncProperty(runs, async (orders) => {
        const [first, second] = await Promise.all(
          orders.map(async (order) => {
            const budget = new Budget()
            for (const { name, hosts, createdMs } of order) budget.set(name, hosts, createdMs)
            for (let i = 0; i < 5; i++) {
              await budget.clock.advance(60_000)
              budget.readAgain()
            }
            const kept = [...budget.claims.values()].filter(({ isCut }) => !isCut)
            const counts = Map.groupBy(kept, ({ namespace }) => namespace)
            const sums = [...counts.values()].map((own) =>
              own.reduce((sum, { hosts }) => sum + hosts, 0),
            )
            assert.ok(sums.every((sum) => sum <= 10) && sums.reduce((a, b) => a + b, 0) <= 20)
            return budget.cut
          }),
        )
        assert.deepEqual(first, second)
      }),
    )
  })
})

test('the bounds are those of the memory', () => {
  const MIB = 1024 * 1024
  assert.deepEqual(hostBoundsFor(256 * MIB), { eachMax: 20_480, wholeMax: 32_768 })
  assert.deepEqual(hostBoundsFor(170 * MIB), { eachMax: 13_600, wholeMax: 21_760 })
})
