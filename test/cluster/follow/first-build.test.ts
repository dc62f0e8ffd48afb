import assert from 'node:assert/strict'
import { describe, type TestContext, test, vi } from 'vitest'
import { ClusterBuilder } from '../../../src/cluster/follow/cluster-builder.ts'
import type { LiveCluster } from '../../../src/cluster/follow/live-cluster.ts'
import { SnapshotError } from '../../../src/snapshot/format/layout.ts'
import { labels } from '../../snapshot/entries.ts'
import { type FakeClock, settle } from './fake-clock.ts'
import { DB, RESOURCES, type Running, STARTUP_MS, start } from './running-cluster.ts'
import { answerLists, openWatches, page, SHOP_LISTS, value } from './scripted-api.ts'

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
const MANY: Readonly<Record<string, string>> = {
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

  test('is awaited for two seconds by queries that need it', async (t) => {
    const { api, clock, live } = start(t)
    const endless = vi
      .spyOn(ClusterBuilder.prototype, 'buildInSteps')
      .mockImplementation(function* () {
        for (;;) {
          clock.pass(5)
          yield
        }
      })
    t.onTestFinished(() => endless.mockRestore())
    answerLists(api, MANY)
    await settle()
    const waiting = live.load(live.current()?.shards.length ?? 0)
    await clock.advance(2000)
    assert.equal(await waiting, undefined)
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

  test('replaces an incomplete snapshot with the same names', async (t) => {
    const { api, clock, live } = start(t)
    const { endpointslices: _, ...others } = MANY
    answerLists(api, others)
    await clock.advance(STARTUP_MS)
    assert.equal(live.freshness(), 'partial')
    api.answer('endpointslices', page('3'))
    await clock.advance(2000)
    assert.ok(live.current()?.hasAddresses)
    assert.ok(live.current()?.shards.every((shard) => shard !== undefined))
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
