import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, type TestContext, test, vi } from 'vitest'
import { exportedKeys } from '../../../src/cli/export/export-keys.ts'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import { connectionTo, startFakeEtcd } from '../../server/fake-etcd.ts'

const HEADER = { revision: '5', cluster_id: '1' }

function kv(key: string, value: string): { key: string; value: string } {
  return { key: btoa(key), value: btoa(value) }
}

const CREATED = `${JSON.stringify({ result: { created: true, header: HEADER } })}\n`

/** Keys of an etcd that lists two, one of them invalid, and opens the first watch. */
async function start(t: TestContext, isOnce = false) {
  const watches: ServerResponse[] = []
  const etcd = await startFakeEtcd(t, ({ path }, response) => {
    if (path === '/v3/kv/range') {
      return { json: { header: HEADER, kvs: [kv('/skydns/a', '{}'), kv('/skydns/b', '{')] } }
    }
    watches.push(response)
    if (watches.length === 1) response.write(CREATED)
    return undefined
  })
  return { watches, ...follow(t, [etcd.url], isOnce) }
}

function follow(t: TestContext, endpoints: readonly string[], isOnce: boolean) {
  const news: string[] = []
  const metrics = new Metrics()
  let wake = (): void => undefined
  const keys = exportedKeys([connectionTo(endpoints)], {
    file: '',
    isOnce,
    log: ({ message }) => void news.push(message),
    metrics,
    onChange: () => wake(),
  })
  assert.ok(keys)
  const ended = new AbortController()
  t.onTestFinished(() => ended.abort())
  keys.start(ended.signal)
  /** Waits for a change after which something holds. */
  const until = async (isDone: () => boolean): Promise<void> => {
    while (!isDone()) await new Promise<void>((resolve) => (wake = resolve))
  }
  return { keys, news, metrics, until }
}

describe('keys that an exporter publishes', () => {
  test('are none without a directive', () => {
    const fail = (): never => assert.fail()
    const options = { file: '', isOnce: false, log: fail, onChange: fail }
    assert.equal(exportedKeys([], { ...options, metrics: new Metrics() }), undefined)
  })

  test('follow an etcd, and are counted', async (t) => {
    const { keys, news, metrics, until, watches } = await start(t)
    await until(() => !keys.tree.isAwaited)
    assert.equal(keys.tree.build()?.records, 2)
    assert.deepEqual(news, ['key "/skydns/b" of etcd: its value is not JSON'])
    const gauges = (): string[] =>
      metrics.format().match(/(?<=^kubedoh_exporter_).*etcd.*$/gm) ?? []
    const counts = ['invalid_objects{resource="etcd"} 1', 'objects{resource="etcd"} 2']
    assert.deepEqual(gauges(), [...counts, 'watch_connected{resource="etcd"} 0'])
    const becomes = async (isConnected: 0 | 1): Promise<void> => {
      const wanted = `watch_connected{resource="etcd"} ${isConnected}`
      await vi.waitUntil(() => gauges().includes(wanted), { timeout: 10_000, interval: 5 })
    }
    await becomes(1)
    const events = [{ type: 'DELETE', kv: { key: btoa('/skydns/b') } }]
    const result = { header: { ...HEADER, revision: '6' }, events }
    watches[0]?.write(`${JSON.stringify({ result })}\n`)
    await until(() => keys.tree.count === 1)
    const changed = ['invalid_objects{resource="etcd"} 0', 'objects{resource="etcd"} 1']
    assert.deepEqual(gauges(), [...changed, 'watch_connected{resource="etcd"} 1'])
    watches[0]?.destroy()
    await becomes(0)
    await vi.waitUntil(() => watches[1]?.write(CREATED) !== undefined, { timeout: 10_000 })
    await becomes(1)
  })

  for (const isOnce of [false, true]) {
    const what = isOnce ? 'are awaited with --once' : 'hold other names up for 5 seconds at most'
    test(what, async (t) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      t.onTestFinished(() => void vi.useRealTimers())
      const { keys, news } = follow(t, ['http://127.0.0.1:1'], isOnce)
      await vi.advanceTimersByTimeAsync(4999)
      assert.equal(keys.tree.isAwaited, true)
      await vi.advanceTimersByTimeAsync(1)
      assert.equal(keys.tree.isAwaited, isOnce)
      const warning = 'publishing without the keys of etcd, which are not read'
      assert.equal(news.includes(warning), !isOnce)
    })
  }
})
