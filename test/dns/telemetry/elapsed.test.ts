import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createElapsed } from '../../../src/dns/telemetry/elapsed.ts'

/** A clock over two that a test sets, and the time that it gave since it was made. */
class Fixture {
  wallMs = 1_000_000
  monotonicMs = 50
  private readonly elapsed = createElapsed({
    wall: () => this.wallMs,
    monotonic: () => this.monotonicMs,
  })
  private readonly startMs = this.elapsed()

  /** Lets time pass as usual. */
  pass(ms: number): void {
    this.wallMs += ms
    this.monotonicMs += ms
  }

  get passedMs(): number {
    return this.elapsed() - this.startMs
  }
}

describe('elapsed time', () => {
  test('is that of the monotonic clock, with its fractions', () => {
    const fixture = new Fixture()
    fixture.pass(0.125)
    assert.equal(fixture.passedMs, 0.125)
    fixture.pass(1000)
    assert.equal(fixture.passedMs, 1000.125)
  })

  test('continues when the wall clock is set back', () => {
    const fixture = new Fixture()
    fixture.wallMs -= 25 * 3_600_000
    for (let i = 1; i <= 3; i++) {
      fixture.pass(1000)
      assert.equal(fixture.passedMs, 1000 * i)
    }
  })

  test('counts an hour that the machine slept, a tenth of a second after it woke', () => {
    const fixture = new Fixture()
    fixture.wallMs += 3_600_000
    fixture.pass(99)
    assert.equal(fixture.passedMs, 99)
    fixture.pass(1)
    assert.equal(fixture.passedMs, 3_600_100)
    fixture.pass(1000)
    assert.equal(fixture.passedMs, 3_601_100)
  })

  test('ignores a slewed wall clock', () => {
    const fixture = new Fixture()
    for (let i = 0; i < 100; i++) {
      fixture.pass(100)
      fixture.wallMs += 0.05
      fixture.passedMs
    }
    assert.equal(fixture.passedMs, 10_000)
  })

  test('stops when the monotonic clock goes back', () => {
    const fixture = new Fixture()
    fixture.pass(1000)
    assert.equal(fixture.passedMs, 1000)
    fixture.monotonicMs -= 500
    assert.equal(fixture.passedMs, 1000)
    fixture.monotonicMs += 600
    assert.equal(fixture.passedMs, 1100)
  })
})
