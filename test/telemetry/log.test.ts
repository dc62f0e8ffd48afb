import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatLogEvent, type LogEvent } from '../../src/telemetry/log.ts'

describe('formatLogEvent', () => {
  const cases: { name: string; event: LogEvent; line: string }[] = [
    {
      name: 'begins with the time, the level and the message',
      event: { level: 'info', message: 'Ready' },
      line: '{"time":"1970-01-01T00:00:01.500Z","level":"info","message":"Ready"}',
    },
    {
      name: 'has facts behind them, in their order',
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
