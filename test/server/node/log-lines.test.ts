import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { LogEvent } from '../../../src/dns/telemetry/log.ts'
import { formatEvent, parseLogLine } from '../../../src/server/node/log-lines.ts'

const TIME_MS = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const TIME = '2026-01-02T03:04:05.678Z'

describe('formatEvent', () => {
  const cases: { name: string; event: LogEvent; text: string; coredns: string }[] = [
    {
      name: 'has the fields of an event after its message',
      event: {
        level: 'info',
        message: 'a change',
        generation: 7,
        cluster: 'prod',
        none: undefined,
      },
      text: 'info a change generation=7 cluster=prod',
      coredns: '[INFO] a change generation=7 cluster=prod',
    },
    {
      name: 'quotes a field that has spaces, quotes, or nothing',
      event: { level: 'warning', message: 'lost', reason: 'no "a" here', path: '' },
      text: 'warning lost reason="no \\"a\\" here" path=""',
      coredns: '[WARNING] lost reason="no \\"a\\" here" path=""',
    },
    {
      name: 'names the plugin as CoreDNS does',
      event: { level: 'error', message: 'no reload', plugin: 'reload' },
      text: 'error plugin/reload: no reload',
      coredns: '[ERROR] plugin/reload: no reload',
    },
    {
      name: "has the order of CoreDNS's plugin for a failed query",
      event: {
        ...{ level: 'error', message: 'i/o timeout', plugin: 'errors' },
        ...{ rcode: 'SERVFAIL', name: 'a.test.', type: 'A' },
      },
      text: 'error plugin/errors: i/o timeout rcode=SERVFAIL name=a.test. type=A',
      coredns: '[ERROR] plugin/errors: 2 a.test. A: i/o timeout',
    },
    {
      name: 'stays on one line and escapes control characters',
      event: { level: 'debug', message: 'a\nb\u001b[31m', x: 'c\n' },
      text: 'debug a\\u{a}b\\u{1b}[31m x="c\\n"',
      coredns: '[DEBUG] a\\u{a}b\\u{1b}[31m x="c\\n"',
    },
  ]
  for (const { name, event, text, coredns } of cases) {
    test(name, () => {
      assert.equal(formatEvent(event, TIME_MS, 'text'), `${TIME} ${text}`)
      assert.equal(formatEvent(event, TIME_MS, 'coredns'), coredns)
      const { time, ...parsed } = JSON.parse(formatEvent(event, TIME_MS, 'json'))
      assert.deepEqual([time, parsed], [TIME, JSON.parse(JSON.stringify(event))])
    })
  }
})

describe('parseLogLine', () => {
  const cases: [line: string, event: LogEvent][] = [
    ['[INFO] Reloading complete', { level: 'info', message: 'Reloading complete' }],
    ['[ERROR] plugin/reload: no: x', { level: 'error', message: 'no: x', plugin: 'reload' }],
    ['[WARNING] a\nb', { level: 'warning', message: 'a\nb' }],
    ['anything', { level: 'info', message: 'anything' }],
  ]
  for (const [line, event] of cases) {
    test(JSON.stringify(line), () => assert.deepEqual(parseLogLine(line), event))
  }
})
