import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { LogEvent } from '../../src/telemetry/log.ts'
import { sampledLog } from '../../src/telemetry/sampled-log.ts'

class Logging {
  nowMs = 0
  readonly logged: LogEvent[] = []
  readonly log = sampledLog({
    log: (event) => {
      this.logged.push(event)
    },
    now: () => this.nowMs,
    perMinute: 3,
  })

  fail(cluster: string, count: number): number {
    const before = this.logged.length
    for (let i = 0; i < count; i++) this.log({ level: 'error', message: 'away', cluster, error: i })
    return this.logged.length - before
  }
}

describe('a sampled log', () => {
  test('writes some events of each kind per minute', () => {
    const logging = new Logging()
    assert.equal(logging.fail('a', 10), 3)
    assert.equal(logging.fail('b', 2), 2)
    logging.log({ level: 'info', message: 'away', cluster: 'a' })
    assert.equal(logging.logged.length, 6)
    assert.deepEqual(logging.logged[2], { level: 'error', message: 'away', cluster: 'a', error: 2 })
  })

  test('reports the number of dropped events', () => {
    const logging = new Logging()
    logging.fail('a', 10)
    logging.nowMs = 60_000
    assert.equal(logging.fail('a', 1), 1)
    assert.deepEqual(logging.logged.at(-1), {
      level: 'error',
      message: 'away',
      cluster: 'a',
      error: 0,
      suppressed: 7,
    })
    logging.nowMs = 120_000
    logging.fail('a', 1)
    assert.equal(logging.logged.at(-1)?.suppressed, undefined)
  })

  test('bounds the number of kinds', () => {
    const logging = new Logging()
    for (let i = 0; i < 1000; i++) assert.equal(logging.fail(`c${i}`, 4), 3)
    assert.equal(logging.fail('c0', 4), 3)
    assert.equal(logging.fail('c999', 4), 0)
  })
})
