import assert from 'node:assert/strict'
import { describe, type TestContext, test, vi } from 'vitest'
import { toLatin1 } from '../../src/bytes/bytes.ts'
import { ClusterBuilder } from '../../src/exporter/cluster-builder.ts'
import { LiveCluster } from '../../src/exporter/live-cluster.ts'
import { ApiError } from '../../src/exporter/object-api.ts'
import { SharedWatch } from '../../src/exporter/shared-watch.ts'
import { SnapshotError } from '../../src/snapshot/format/layout.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { optionsOf } from '../kubernetes/naming.ts'
import { labels } from '../snapshot/entries.ts'
import { FakeClock, START_MS, settle } from './fake-clock.ts'
import { answerLists, openWatches, page, ScriptedApi, SHOP_LISTS, value } from './scripted-api.ts'
import { namesIn } from './snapshots.ts'

const RESOURCES = Object.keys(SHOP_LISTS)
const STALE_MS = 60_000
const STARTUP_MS = 5000
const NAMES = ['web.shop.svc', 'db.shop.svc']
const DB = `{
  metadata: { namespace: shop, name: db, resourceVersion: "9" },
  spec: { clusterIP: 192.0.2.11 },
}`

type Running = {
  readonly api: ScriptedApi
  readonly clock: FakeClock
  readonly live: LiveCluster
  /** Those of NAMES that the newest snapshot has. */
  readonly names: () => string[]
  readonly generation: () => number | undefined
  readonly messages: string[]
  readonly metrics: Metrics
}

function start(t: TestContext): Running {
  const api = new ScriptedApi()
  const clock = new FakeClock()
  const messages: string[] = []
  const onWarning = (message: string): number => messages.push(`warning: ${message}`)
  const onError = (message: string): number => messages.push(`error: ${message.replace(/;.*/, '')}`)
  const { sleep, now, elapsed } = clock
  const shared = new SharedWatch({ api, onWarning, onError, sleep, random: () => 1, elapsed })
  const metrics = new Metrics()
  const limits = { staleMs: STALE_MS, startupMs: STARTUP_MS }
  const naming = optionsOf()
  const live = new LiveCluster({
    shared,
    naming,
    now,
    elapsed,
    onWarning,
    onError,
    metrics,
    sleep,
    hasEarlyShards: true,
    ...limits,
  })
  live.start()
  t.onTestFinished(() => live.stop())
  return {
    api,
    clock,
    live,
    names: () => namesIn(live.current(), NAMES),
    generation: () => live.current()?.info.generation,
    messages,
    metrics,
  }
}

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
    const { build } = ClusterBuilder.prototype
    const slow = vi.spyOn(ClusterBuilder.prototype, 'build').mockImplementation(function (
      this: ClusterBuilder,
    ) {
      clock.pass(72)
      return build.call(this)
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

/** Has some steps of the first build take longer than its share of a turn of the event loop. */
function slowSteps(t: TestContext, clock: FakeClock, isFailing = false): void {
  const { buildInSteps } = ClusterBuilder.prototype
  const slow = vi.spyOn(ClusterBuilder.prototype, 'buildInSteps').mockImplementation(function* (
    this: ClusterBuilder,
  ) {
    const steps = buildInSteps.call(this)
    for (let count = 1; ; count++) {
      const { done, value } = steps.next()
      if (done === true) return value
      if (count % 100 === 0) clock.pass(5)
      yield
      if (isFailing && count > 150) throw new SnapshotError('Cannot build shard: too much')
    }
  })
  t.onTestFinished(() => slow.mockRestore())
}

/** As many Services as a large cluster has. */
const MANY = {
  ...SHOP_LISTS,
  services: Array.from(
    { length: 499 },
    (_, i) => `- { metadata: { namespace: shop, name: s${i} }, spec: { clusterIP: 192.0.2.1 } }`,
  )
    .concat('- { metadata: { namespace: shop, name: web }, spec: { clusterIP: 192.0.2.10 } }')
    .join('\n'),
}

describe('the first build', () => {
  /** Starts, and lists all objects. */
  async function startSlow(t: TestContext, isFailing?: boolean): Promise<Running> {
    const started = start(t)
    slowSteps(t, started.clock, isFailing)
    answerLists(started.api, MANY)
    await settle()
    openWatches(started.api, RESOURCES)
    // A server opens its sockets before the build.
    await started.clock.advance(30)
    return started
  }
  const shardOf = (live: LiveCluster, name: string): number => {
    const owner = labels(name)
    return live.current()?.shardOfName(owner, owner.length) ?? assert.fail('no snapshot')
  }

  test('leaves time for queries, which get names from early shards', async (t) => {
    const { live, names, generation } = await startSlow(t)
    await live.ready
    assert.deepEqual([names(), live.freshness()], [[], 'fresh'])
    const loaded = await live.load(shardOf(live, 'web.shop.svc'))
    assert.deepEqual([loaded, names()], [live.current(), ['web.shop.svc']])
    assert.equal(await live.load(shardOf(live, 'web.shop.svc')), loaded)
    const early = generation()
    // Only the whole build has the addresses.
    const address = new Uint8Array([192, 0, 2, 10])
    const waiting = live.load(live.current()?.shardOfAddress(address) ?? 0)
    for (let i = 0; i < 10; i++) await settle()
    assert.equal(await waiting, live.current())
    assert.ok(live.current()?.shards.every((shard) => shard !== undefined))
    assert.deepEqual([names(), generation()], [['web.shop.svc'], early])
  })

  test('is of one state: changes wait for its end', async (t) => {
    const { api, clock, live, names } = await startSlow(t)
    api.watching('services').send('ADDED', value(DB))
    api.watching('services').send('DELETED', value('{ metadata: { namespace: shop, name: web } }'))
    await live.load(shardOf(live, 'web.shop.svc'))
    await live.load(shardOf(live, 'db.shop.svc'))
    assert.deepEqual(names(), ['web.shop.svc'])
    for (let i = 0; i < 10; i++) await settle()
    await clock.advance(2000)
    assert.deepEqual(names(), ['db.shop.svc'])
  })

  test('ends with the cluster', async (t) => {
    const { clock, live } = await startSlow(t)
    live.stop()
    await clock.advance(2000)
    assert.ok(live.current()?.shards.includes(undefined))
  })

  test('ends early answers if it fails', async (t) => {
    const { clock, live, messages } = await startSlow(t, true)
    assert.ok(live.current() !== undefined)
    await settle()
    assert.deepEqual(
      [live.current(), live.freshness(), messages],
      [undefined, 'partial', ['error: Cannot build shard: too much']],
    )
    await clock.advance(STARTUP_MS)
    await live.ready
  })
})

test('logs a failed build and keeps serving the previous snapshot', async (t) => {
  const { api, clock, names, messages } = await startSynced(t)
  const failing = vi.spyOn(ClusterBuilder.prototype, 'build').mockImplementation(() => {
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
