import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatLogEvent, type LogEvent, sampledLog } from '../../../src/dns/telemetry/log.ts'

describe('formatLogEvent', () => {
  const cases: { name: string; event: LogEvent; line: string }[] = [
    {
      name: 'begins with the time, the level and the message',
      event: { level: 'info', message: 'Ready' },
      line: '{"time":"1970-01-01T00:00:01.500Z","level":"info","message":"Ready"}',
    },
    {
      name: 'has facts after them, in their order',
      event: { level: 'debug', message: 'Reply', rcode: 'NOERROR', bytes: 64, cached: false },
      line:
        '{"time":"1970-01-01T00:00:01.500Z","level":"debug","message":"Reply",' +
        '"rcode":"NOERROR","bytes":64,"cached":false}',
    },
    {
      name: 'leaves out facts that are not known',
      event: { level: 'warning', message: 'Slow', file: undefined, line: 7 },
      line: '{"time":"1970-01-01T00:00:01.500Z","level":"warning","message":"Slow","line":7}',
    },
    {
      name: 'keeps what a peer sent from beginning a line of its own',
      event: { level: 'error', message: 'a\r\nb', name: '"\u0000' },
      line:
        '{"time":"1970-01-01T00:00:01.500Z","level":"error","message":"a\\r\\nb",' +
        '"name":"\\"\\u0000"}',
    },
  ]
  for (const { name, event, line } of cases) {
    test(name, () => {
      assert.equal(formatLogEvent(event, 1500), line)
    })
  }

  test('is one line of JSON with everything in it', () => {
    const text = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) })
    const facts = fc.dictionary(
      fc.string().filter((key) => !['time', 'level', 'message', '__proto__'].includes(key)),
      fc.oneof(text, fc.integer(), fc.boolean()),
    )
    const time = fc.date({ noInvalidDate: true })
    fc.assert(
      fc.property(facts, text, time, (some, message, date) => {
        const line = formatLogEvent({ ...some, level: 'info', message }, date.getTime())
        assert.doesNotMatch(line, /[\n\r]/)
        assert.deepEqual(JSON.parse(line), {
          ...some,
          time: date.toISOString(),
          level: 'info',
          message,
        })
      }),
    )
  })
})

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

  test('drops no event of the audit log', () => {
    const logging = new Logging()
    for (let i = 0; i < 10; i++) logging.log({ level: 'info', message: 'request', audit: true })
    assert.equal(logging.logged.length, 10)
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
