import assert from 'node:assert/strict'
import { describe, type TestContext, test, vi } from 'vitest'
import { SlowQueries } from '../../../src/server/sockets/slow-queries.ts'

/** Queries whose answers take a millisecond each; turns of the event loop come when a test says. */
class Fixture {
  readonly dropped = { value: 0 }
  readonly answered: number[] = []
  /** How long each of them had waited. */
  readonly waitedMs: number[] = []
  nowMs = 1000
  readonly queries: SlowQueries = new SlowQueries(this.dropped, () => this.nowMs)
  private readonly turns: (() => void)[] = []

  constructor(t: TestContext) {
    vi.stubGlobal('setImmediate', (task: () => void) => this.turns.push(task))
    t.onTestFinished(() => {
      vi.unstubAllGlobals()
    })
  }

  ask(number: number, bytes = 4): void {
    const message = new Uint8Array(bytes)
    new DataView(message.buffer).setUint32(0, number)
    this.queries.take(this, message, `192.0.2.${number % 256}`, number)
    // The next datagram overwrites it.
    message.fill(255)
  }

  answerSlowly(message: Uint8Array, address: string, port: number): void {
    this.nowMs++
    const number = new DataView(message.buffer, message.byteOffset).getUint32(0)
    assert.deepEqual([address, port], [`192.0.2.${number % 256}`, number])
    this.answered.push(number)
    this.waitedMs.push(this.queries.waitedMs)
  }

  /** Returns the queries that are answered in the next turn. */
  turn(): number[] {
    const before = this.answered.length
    this.turns.shift()?.()
    return this.answered.slice(before)
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i)
}

describe('SlowQueries', () => {
  test('answers at once while a turn has time', (t) => {
    const fixture = new Fixture(t)
    for (const i of range(0, 5)) fixture.ask(i)
    assert.deepEqual(fixture.answered, range(0, 5))
    assert.deepEqual(fixture.turn(), [])
    fixture.ask(5)
    assert.deepEqual(fixture.answered, range(0, 6))
  })

  test('answers the newest ones first, some in each turn', (t) => {
    const fixture = new Fixture(t)
    for (const i of range(0, 17)) fixture.ask(i)
    assert.deepEqual(fixture.answered, range(0, 5))
    assert.deepEqual(fixture.turn(), [16, 15, 14, 13, 12])
    fixture.ask(17)
    assert.deepEqual(fixture.turn(), [17, 11, 10, 9, 8])
    assert.equal(fixture.queries.isEmpty, false)
    assert.deepEqual(fixture.turn(), [7, 6, 5])
    assert.equal(fixture.queries.isEmpty, true)
    assert.equal(fixture.dropped.value, 0)
  })

  test('says how long the query has waited that is being answered', (t) => {
    const fixture = new Fixture(t)
    for (const i of range(0, 7)) fixture.ask(i)
    fixture.nowMs += 100
    fixture.turn()
    assert.deepEqual(fixture.waitedMs, [0, 0, 0, 0, 0, 100, 101])
    assert.equal(fixture.queries.waitedMs, 0)
  })

  test('drops those that have waited for two seconds', (t) => {
    const fixture = new Fixture(t)
    for (const i of range(0, 7)) fixture.ask(i)
    fixture.nowMs += 1990
    fixture.ask(7)
    fixture.nowMs += 11
    assert.deepEqual(fixture.turn(), [7])
    assert.equal(fixture.dropped.value, 2)
    assert.equal(fixture.queries.isEmpty, true)
  })

  test('holds 4,096 queries: the oldest make room', (t) => {
    const fixture = new Fixture(t)
    for (const i of range(0, 5 + 3 * 4096)) fixture.ask(i)
    assert.equal(fixture.dropped.value, 2 * 4096)
    const answered: number[] = []
    for (let some = fixture.turn(); some.length > 0; some = fixture.turn()) {
      answered.push(...some)
      fixture.nowMs = 1006
    }
    assert.deepEqual(answered.reverse(), range(5 + 2 * 4096, 5 + 3 * 4096))
  })

  test('holds queries of 512 bytes, and drops longer ones that would have to wait', (t) => {
    const fixture = new Fixture(t)
    fixture.ask(0, 4096)
    for (const i of range(1, 5)) fixture.ask(i)
    fixture.ask(5, 512)
    fixture.ask(6, 513)
    assert.deepEqual(fixture.turn(), [5])
    assert.equal(fixture.dropped.value, 1)
  })
})
