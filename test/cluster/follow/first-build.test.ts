import assert from 'node:assert/strict'
import { describe, type TestContext, test, vi } from 'vitest'
import { ClusterBuilder } from '../../../src/cluster/follow/cluster-builder.ts'
import { SnapshotError } from '../../../src/snapshot/format/layout.ts'
import { type FakeClock, settle } from './fake-clock.ts'
import { DB, RESOURCES, type Running, STARTUP_MS, start } from './running-cluster.ts'
import { answerLists, openWatches, page, SHOP_LISTS, value } from './scripted-api.ts'

/** Turns of the event loop that a build takes. */
const TURNS = 10

function slowSteps(t: TestContext, clock: FakeClock, isFailing = false): void {
  const { buildInSteps } = ClusterBuilder.prototype
  const slow = vi.spyOn(ClusterBuilder.prototype, 'buildInSteps').mockImplementation(function* (
    this: ClusterBuilder,
  ) {
    for (let turn = 0; turn < TURNS; turn++) {
      clock.pass(5)
      yield
    }
    if (isFailing) throw new SnapshotError('Cannot build shard: too much')
    return yield* buildInSteps.call(this)
  })
  t.onTestFinished(() => slow.mockRestore())
}

/** Starts, lists all objects, and ends within the first build. */
async function startSlow(t: TestContext, isFailing?: boolean): Promise<Running> {
  const started = start(t)
  slowSteps(t, started.clock, isFailing)
  answerLists(started.api, SHOP_LISTS)
  await settle()
  openWatches(started.api, RESOURCES)
  return started
}

async function turns(): Promise<void> {
  for (let turn = 0; turn <= TURNS; turn++) await settle()
}

describe('the first build', () => {
  test('is awaited: until it has ended there is nothing to answer from', async (t) => {
    const { live, names } = await startSlow(t)
    assert.deepEqual([live.current(), live.freshness()], [undefined, 'partial'])
    await live.ready
    assert.deepEqual([names(), live.freshness()], [['web.shop.svc'], 'fresh'])
  })

  test('is awaited even if it ends after the time for the start', async (t) => {
    const { clock, live, names } = await startSlow(t)
    await clock.advance(STARTUP_MS)
    assert.deepEqual([live.current(), live.freshness()], [undefined, 'partial'])
    await live.ready
    assert.deepEqual([names(), live.freshness()], [['web.shop.svc'], 'fresh'])
  })

  test('is of one state: changes wait for its end', async (t) => {
    const { api, clock, live, names } = await startSlow(t)
    api.watching('services').send('ADDED', value(DB))
    api.watching('services').send('DELETED', value('{ metadata: { namespace: shop, name: web } }'))
    await live.ready
    assert.deepEqual(names(), ['web.shop.svc'])
    await clock.advance(2000)
    await turns()
    assert.deepEqual(names(), ['db.shop.svc'])
  })

  test('completes an incomplete snapshot with the same names', async (t) => {
    const { api, clock, live } = start(t)
    const { endpointslices: _, ...others } = SHOP_LISTS
    answerLists(api, others)
    await clock.advance(STARTUP_MS)
    const incomplete = live.current()
    assert.ok(incomplete)
    assert.equal(live.freshness(), 'partial')
    api.answer('endpointslices', page('3'))
    await clock.advance(2000)
    assert.deepEqual([live.current(), live.freshness()], [incomplete, 'stale'])
  })

  test('ends with the cluster', async (t) => {
    const { live } = await startSlow(t)
    live.stop()
    await live.ready
    await turns()
    assert.equal(live.current(), undefined)
  })

  test('leaves nothing to answer from if it fails', async (t) => {
    const { clock, live, messages } = await startSlow(t, true)
    await turns()
    assert.deepEqual(
      [live.current(), live.freshness(), messages],
      [undefined, 'partial', ['error: Cannot build shard: too much']],
    )
    await clock.advance(STARTUP_MS)
    await live.ready
  })
})
