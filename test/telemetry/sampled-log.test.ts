import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { LogEvent } from '../../src/telemetry/log.ts'
import { sampledLog } from '../../src/telemetry/sampled-log.ts'

class Logging {
  nowMs = 0
  readonly told: LogEvent[] = []
  readonly log = sampledLog({
    log: (event) => {
      this.told.push(event)
    },
    now: () => this.nowMs,
    perMinute: 3,
  })

  fail(cluster: string, count: number): number {
    const before = this.told.length
    for (let i = 0; i < count; i++) this.log({ level: 'error', message: 'away', cluster, error: i })
    return this.told.length - before
  }
}

describe('a sampled log', () => {
  test('tells some of each kind a minute', () => {
    const logging = new Logging()
    assert.equal(logging.fail('a', 10), 3)
    assert.equal(logging.fail('b', 2), 2)
    logging.log({ level: 'info', message: 'away', cluster: 'a' })
    assert.equal(logging.told.length, 6)
    assert.deepEqual(logging.told[2], { level: 'error', message: 'away', cluster: 'a', error: 2 })
  })

  test('says afterwards how many it did not tell', () => {
    const logging = new Logging()
    logging.fail('a', 10)
    logging.nowMs = 60_000
    assert.equal(logging.fail('a', 1), 1)
    assert.deepEqual(logging.told.at(-1), {
      level: 'error',
      message: 'away',
      cluster: 'a',
      error: 0,
      untold: 7,
    })
    logging.nowMs = 120_000
    logging.fail('a', 1)
    assert.equal(logging.told.at(-1)?.untold, undefined)
  })

  test('remembers no more kinds than it has room for', () => {
    const logging = new Logging()
    for (let i = 0; i < 1000; i++) assert.equal(logging.fail(`c${i}`, 4), 3)
    assert.equal(logging.fail('c0', 4), 3)
    assert.equal(logging.fail('c999', 4), 0)
  })
})
