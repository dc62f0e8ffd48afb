import assert from 'node:assert/strict'
import { describe, type TestContext, test, vi } from 'vitest'
import { ApiError } from '../../../src/cluster/api/object-api.ts'
import { SharedWatch } from '../../../src/cluster/api/shared-watch.ts'
import { ClusterBuilder } from '../../../src/cluster/follow/cluster-builder.ts'
import { LiveCluster } from '../../../src/cluster/follow/live-cluster.ts'
import { toLatin1 } from '../../../src/dns/bytes/bytes.ts'
import { SnapshotError } from '../../../src/snapshot/format/layout.ts'
import { optionsOf } from '../naming.ts'
import { FakeClock, START_MS, settle } from './fake-clock.ts'
import {
  DB,
  NAMES,
  RESOURCES,
  type Running,
  STALE_MS,
  STARTUP_MS,
  start,
} from './running-cluster.ts'
import { answerLists, openWatches, page, ScriptedApi, SHOP_LISTS, value } from './scripted-api.ts'
import { namesIn } from './snapshots.ts'

/** Starts with a snapshot of all lists, and all watches open. */
async function startSynced(t: TestContext): Promise<Running> {
  const started = start(t)
  answerLists(started.api)
  await started.clock.advance(0)
  openWatches(started.api, RESOURCES)
  return started
}

describe('LiveCluster', () => {
  test('returns the records of a zone transfer', async (t) => {
    const { live } = await startSynced(t)
    const owners = Array.from(live.transferRecords(), ({ owner }) => toLatin1(owner))
    assert.ok(owners.includes('\x03web\x04shop\x03svc'), owners.join())
  })

  test('has nothing to answer from before all collections are listed', async (t) => {
    const { api, clock, live } = start(t)
    let isSynced = false
    const synced = live.ready.then(() => {
      isSynced = true
    })
    api.answer('services', page('1', SHOP_LISTS.services))
    api.answer('endpointslices', page('1'))
    await clock.advance(1000)
    assert.deepEqual([isSynced, live.current()], [false, undefined])
    api.answer('namespaces', page('1', SHOP_LISTS.namespaces))
    await clock.advance(0)
    await synced
    assert.deepEqual(namesIn(live.current(), NAMES), ['web.shop.svc'])
    assert.equal(live.current()?.info.timeMs, START_MS + 1000)
  })

  test('serves an incomplete snapshot when that takes too long', async (t) => {
    const { api, clock, live, names } = start(t)
    api.answer('services', page('1', SHOP_LISTS.services))
    api.answer('namespaces', page('1', SHOP_LISTS.namespaces))
    await clock.advance(STARTUP_MS - 1)
    assert.equal(live.current(), undefined)
    await clock.advance(1)
    await live.ready
    assert.deepEqual([names(), live.freshness()], [NAMES.slice(0, 1), 'partial'])
    api.watching('services').send('ADDED', value(DB))
    await clock.advance(0)
    assert.deepEqual([names(), live.freshness()], [NAMES, 'partial'])
    api.answer('endpointslices', page('1'))
    await clock.advance(100)
    openWatches(api, RESOURCES)
    assert.deepEqual([names(), live.freshness()], [NAMES, 'fresh'])
  })

  test('waits no longer for the start when all is read, or it is stopped', async (t) => {
    const { clock } = await startSynced(t)
    await clock.advance(1000)
    assert.equal(clock.sleeping, 0)
    const other = start(t)
    other.live.stop()
    await other.clock.advance(0)
    assert.equal(other.clock.sleeping, 0)
    await other.clock.advance(STARTUP_MS)
    assert.equal(other.live.current(), undefined)
  })

  test('measures changes of endpoints, once all is read', async (t) => {
    const { api, clock, metrics } = await startSynced(t)
    const slice = (second: string): unknown =>
      value(`{
        metadata: {
          namespace: shop, name: web-1, labels: { kubernetes.io/service-name: web },
          annotations: {
            endpoints.kubernetes.io/last-change-trigger-time: "2025-12-31T23:59:${second}Z",
          },
        },
        addressType: IPv4, endpoints: [],
      }`)
    const count = (): string | undefined => /_count\{.*\} (\d+)/.exec(metrics.format())?.[1]
    assert.equal(count(), undefined)
    for (const [second, expected] of [
      ['58', '1'],
      ['58', '1'],
      ['59', '2'],
    ] as const) {
      api.watching('endpointslices').send('MODIFIED', slice(second))
      await clock.advance(1000)
      assert.equal(count(), expected)
    }
  })

  test('serves an empty cluster', async (t) => {
    const { api, clock, live } = start(t)
    for (const resource of RESOURCES) api.answer(resource, page('1'))
    await clock.advance(0)
    await live.ready
    assert.notEqual(live.current(), undefined)
  })

  test('answers a change at once, and gathers those that come while it rests', async (t) => {
    const { api, clock, names, generation } = await startSynced(t)
    const first = generation() ?? 0
    await clock.advance(5000)
    const { buildInSteps } = ClusterBuilder.prototype
    const slow = vi.spyOn(ClusterBuilder.prototype, 'buildInSteps').mockImplementation(function* (
      this: ClusterBuilder,
    ) {
      const built = yield* buildInSteps.call(this)
      clock.pass(72)
      return built
    })
    t.onTestFinished(() => slow.mockRestore())
    api.watching('services').send('ADDED', value(DB))
    await clock.advance(0)
    assert.deepEqual(names(), NAMES)
    assert.equal(generation(), first + 5)
    // The build took 72 ms, 54 more than its share, of which 50 were saved: changes wait for 16.
    api.watching('services').send('DELETED', value('{ metadata: { namespace: shop, name: web } }'))
    api.watching('services').send('DELETED', value('{ metadata: { namespace: shop, name: db } }'))
    await clock.advance(15)
    assert.deepEqual(names(), NAMES)
    await clock.advance(1)
    assert.deepEqual(names(), [])
    assert.equal(slow.mock.calls.length, 2)
  })

  test('leaves time for queries within a long build, which changes do not disturb', async (t) => {
    const { api, clock, names } = await startSynced(t)
    await clock.advance(5000)
    let steps = 0
    const { buildInSteps } = ClusterBuilder.prototype
    const slow = vi.spyOn(ClusterBuilder.prototype, 'buildInSteps').mockImplementation(function* (
      this: ClusterBuilder,
    ) {
      for (; steps < 10; steps++) {
        clock.pass(5)
        yield
      }
      return yield* buildInSteps.call(this)
    })
    t.onTestFinished(() => slow.mockRestore())
    api.watching('services').send('ADDED', value(DB))
    for (let turn = 0; steps < 10; turn++) {
      assert.ok(steps <= turn, `${steps} steps in ${turn} turns`)
      assert.deepEqual(names(), ['web.shop.svc'])
      if (turn === 5) api.watching('services').send('DELETED', value(DB))
      await settle()
    }
    await settle()
    assert.deepEqual(names(), NAMES)
    for (let second = 0; second < 5; second++) await clock.advance(1000)
    assert.deepEqual(names(), ['web.shop.svc'])
  })

  test('keeps the snapshot when a change changes no name', async (t) => {
    const { api, clock, live } = await startSynced(t)
    const before = live.current()
    await clock.advance(5000)
    api.watching('services').send('MODIFIED', value(DB))
    api.watching('services').send('DELETED', value(DB))
    await clock.advance(1000)
    assert.equal(live.current(), before)
  })

  test('reads Pods when names are made of them', async (t) => {
    const api = new ScriptedApi()
    const { sleep, now, elapsed } = new FakeClock()
    const failing = { onWarning: assert.fail, onError: assert.fail }
    const live = new LiveCluster({
      shared: new SharedWatch({ api, ...failing, sleep, random: () => 1, elapsed }),
      naming: optionsOf({ pods: 'verified', hasEndpoints: false }),
      now,
      elapsed,
      ...failing,
      staleMs: STALE_MS,
      startupMs: STARTUP_MS,
      sleep,
    })
    live.start()
    t.onTestFinished(() => live.stop())
    await settle()
    assert.deepEqual(api.calls, ['list namespaces', 'list services', 'list pods'])
  })

  test('warns of objects that it cannot read or name, and logs failures', async (t) => {
    const { api, clock, messages } = await startSynced(t)
    const { send } = api.watching('services')
    send('ADDED', value('{ metadata: { namespace: shop, name: bad }, spec: 1 }'))
    send('ADDED', value('{ metadata: { namespace: shop, name: db } }'))
    api.watching('endpointslices').fail(new ApiError('reset by peer'))
    await clock.advance(100)
    assert.deepEqual(messages, [
      'warning: Service shop/bad: spec is 1, expected an object',
      'warning: Service shop/db: it has no cluster IP',
      'error: cannot follow endpointslices: reset by peer',
    ])
  })

  test('keeps the newest snapshot when it is stopped, and asks no more', async (t) => {
    const { api, clock, live, names } = await startSynced(t)
    const calls = api.calls.length
    api.watching('services').send('ADDED', value(DB))
    live.stop()
    await clock.advance(600_000)
    assert.deepEqual(names(), NAMES)
    assert.equal(api.calls.length, calls)
  })
})

test('logs a failed build and keeps serving the previous snapshot', async (t) => {
  const { api, clock, names, messages } = await startSynced(t)
  const failing = vi.spyOn(ClusterBuilder.prototype, 'buildInSteps').mockImplementation(() => {
    throw new SnapshotError('Cannot build shard: too much')
  })
  api.watching('services').send('ADDED', value(DB))
  await clock.advance(1000)
  assert.deepEqual(names(), ['web.shop.svc'])
  assert.deepEqual(messages, ['error: Cannot build shard: too much'])
  failing.mockRestore()
  api.watching('services').send('MODIFIED', value(DB))
  await clock.advance(1000)
  assert.deepEqual(names(), NAMES)
})

describe('freshness', () => {
  test('is stale before all watches are open', async (t) => {
    const { api, clock, live } = start(t)
    answerLists(api)
    await clock.advance(0)
    assert.equal(live.freshness(), 'stale')
    openWatches(api, RESOURCES)
    assert.equal(live.freshness(), 'fresh')
  })

  test('is fresh as long as they are, whatever happens', async (t) => {
    const { clock, live } = await startSynced(t)
    await clock.advance(10 * STALE_MS)
    assert.equal(live.freshness(), 'fresh')
  })

  test('ends some time after one of them, whatever the last call', async (t) => {
    const { api, clock, live } = await startSynced(t)
    await clock.advance(10 * STALE_MS)
    api.watching('services').fail(new ApiError('reset by peer'))
    await clock.advance(STALE_MS - 1)
    assert.equal(live.freshness(), 'fresh')
    await clock.advance(1)
    assert.equal(live.freshness(), 'stale')
    openWatches(api, ['services'])
    assert.equal(live.freshness(), 'fresh')
  })
})
