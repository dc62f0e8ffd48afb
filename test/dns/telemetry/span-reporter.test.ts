import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { Span } from '../../../src/dns/telemetry/span.ts'
import { Reporter } from '../../../src/dns/telemetry/span-reporter.ts'
import { FakeHost, settle } from '../../fake-host.ts'

function spans(...names: readonly string[]): Span[] {
  const times = { startMs: 0, durationMs: 0, tags: {} }
  return names.map((name) => ({ traceId: '1', id: name, parentId: undefined, name, ...times }))
}

function reporterOn(host: FakeHost): Reporter {
  const sizes = { backlogMax: 4, batchMax: 2, intervalMs: 1000 }
  return new Reporter({ format: 'zipkin', url: 'http://a/', service: 'dns', ...sizes }, host)
}

function sent({ posted }: FakeHost): string[] {
  return posted.map(({ json }) => {
    const list: { name: string }[] = JSON.parse(json)
    return list.map(({ name }) => name).join(' ')
  })
}

describe('Reporter', () => {
  test('sends a full batch at once, the rest when its time has come', async () => {
    const host = new FakeHost()
    reporterOn(host).add(spans('a', 'b', 'c'))
    await settle()
    assert.deepEqual(sent(host), ['a b'])
    await host.advance(1000)
    assert.deepEqual(sent(host), ['a b', 'c'])
    assert.equal(host.timerCount, 0)
  })

  test('drops the oldest when too many wait, and logs that once a minute', async () => {
    const host = new FakeHost()
    const reporter = reporterOn(host)
    reporter.add(spans('a', 'b', 'c', 'd', 'e', 'f'))
    await settle()
    assert.deepEqual(sent(host), ['c d', 'e f'])
    reporter.add(spans('g', 'h', 'i', 'j', 'k'))
    await settle()
    assert.equal(host.events.length, 1)
    await host.advance(60_000)
    reporter.add(spans('l', 'm', 'n', 'o', 'p'))
    assert.deepEqual(
      host.events.map(({ count, reason }) => `${count} ${reason}`),
      ['2 the backlog is full', '2 the backlog is full'],
    )
  })

  test('sends one batch at a time', async () => {
    const host = new FakeHost()
    const answer = Promise.withResolvers<void>()
    const posts: string[] = []
    const postJson = (_: string, json: string): Promise<void> => {
      posts.push(json)
      return answer.promise
    }
    const reporter = new Reporter(
      {
        format: 'zipkin',
        url: 'http://a/',
        service: 'dns',
        backlogMax: 9,
        batchMax: 1,
        intervalMs: 1,
      },
      { after: host.after, log: host.log, postJson },
    )
    reporter.add(spans('a'))
    reporter.add(spans('b'))
    await host.advance(100)
    assert.equal(posts.length, 1)
    answer.resolve()
    await settle()
    assert.equal(posts.length, 2)
  })

  test('does not send again what was refused', async () => {
    const host = new FakeHost()
    host.postFailure = new Error('no')
    const reporter = reporterOn(host)
    reporter.add(spans('a', 'b'))
    await settle()
    host.postFailure = undefined
    reporter.add(spans('c', 'd'))
    await settle()
    assert.deepEqual(sent(host), ['a b', 'c d'])
    reporter.stop()
    assert.equal(host.timerCount, 0)
  })
})
