import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { Refresher } from '../../../src/gateway/timing/refresher.ts'

/** A refresher whose loads the test ends. */
class Fixture {
  nowMs = 0
  readonly looks: PromiseWithResolvers<void>[] = []
  readonly errors: string[] = []
  readonly refresher = new Refresher({
    look: () => {
      const look = Promise.withResolvers<void>()
      this.looks.push(look)
      return look.promise
    },
    refreshMs: 100,
    elapsed: () => this.nowMs,
    onError: (message) => this.errors.push(message),
  })
}

describe('Refresher', () => {
  test('looks at first, and again when it is time', () => {
    const { refresher, looks } = new Fixture()
    assert.equal(refresher.sinceCheckMs(), Number.POSITIVE_INFINITY)
    assert.ok(refresher.refreshIfDue())
    assert.equal(looks.length, 1)
  })

  test('does not look while it looks, nor soon after', async () => {
    const fixture = new Fixture()
    const { refresher, looks } = fixture
    const first = refresher.refreshIfDue()
    assert.equal(refresher.refreshIfDue(), undefined)
    refresher.noteCheck()
    looks[0]?.resolve()
    await first
    fixture.nowMs = 99
    assert.equal(refresher.refreshIfDue(), undefined)
    fixture.nowMs = 100
    assert.ok(refresher.refreshIfDue())
    assert.equal(looks.length, 2)
  })

  test('gives up a look that never ends', () => {
    const fixture = new Fixture()
    assert.ok(fixture.refresher.refreshIfDue())
    fixture.nowMs = 9999
    assert.equal(fixture.refresher.refreshIfDue(), undefined)
    fixture.nowMs = 10_000
    assert.ok(fixture.refresher.refreshIfDue())
  })

  test('reports a failed refresh, and refreshes again when it is due', async () => {
    const fixture = new Fixture()
    const { refresher, looks, errors } = fixture
    const first = refresher.refreshIfDue()
    looks[0]?.reject(new Error('away'))
    await first
    assert.deepEqual(errors, ['away'])
    assert.equal(refresher.refreshIfDue(), undefined)
    fixture.nowMs = 100
    assert.ok(refresher.refreshIfDue())
  })
})
