import assert from 'node:assert/strict'
import { describe, type TestContext, test, vi } from 'vitest'
import { CLUSTER_TREE } from '../../src/corefile/cluster-tree.ts'
import type { SnapshotSource } from '../../src/resolver/contract/host.ts'
import type { ClusterWanted } from '../../src/server/serve/cluster-wanted.ts'
import { openShard } from '../../src/snapshot/read/open-shard.ts'
import { Snapshot } from '../../src/snapshot/read/snapshot.ts'
import { buildShards } from '../../src/snapshot/write/build-shards.ts'
import { block, parseBlocks } from '../ask.ts'
import { answerLists, SHOP_LISTS, value } from '../cluster/follow/scripted-api.ts'
import { within } from './clients.ts'
import { directiveOf, Sources } from './scripted-sources.ts'

const INFO = { generation: 7, timeMs: 0, ttlSeconds: 5, origins: [] }
const EMPTY = new Snapshot(INFO, buildShards([]).map(openShard))

/** Services as a YAML list. */
function servicesOf(count: number): string {
  return Array.from(
    { length: count },
    (_, i) => `- { metadata: { namespace: shop, name: s${i} }, spec: { clusterIP: 192.0.2.1 } }`,
  ).join('\n')
}

/** A slice with endpoints, in a YAML list. */
function sliceOf(count: number): string {
  const endpoints = Array.from({ length: count }, () => '{ addresses: [192.0.2.2] }').join(', ')
  return `- { metadata: { namespace: shop, name: s }, addressType: IPv4, endpoints: [${endpoints}] }`
}

/** A thread that watches nothing; tests set what it has read. */
class FakeThread {
  readonly watched: string[][] = []
  state: { snapshot?: Snapshot; freshness: 'partial' | 'fresh' } = { freshness: 'partial' }
  isStopped = false
  finish: () => void = () => undefined

  readonly watch = (wanted: readonly ClusterWanted[]): Promise<void> => {
    this.watched.push(wanted.map(({ directive: { ttlSeconds } }) => `ttl ${ttlSeconds}`))
    return new Promise((resolve) => {
      this.finish = resolve
    })
  }
  readonly source = (): SnapshotSource => ({
    current: () => this.state.snapshot,
    load: () => Promise.resolve(this.state.snapshot),
    freshness: () => this.state.freshness,
  })
  readonly metrics = (): Promise<string> => Promise.resolve('a 1\n')
  readonly problems = (): string[] => ['x: waits']
  readonly stop = (): Promise<void> => {
    this.isStopped = true
    return Promise.resolve()
  }
}

describe('large clusters', () => {
  const SMALL = { ...SHOP_LISTS, services: servicesOf(499) }
  const LARGE = { ...SHOP_LISTS, services: servicesOf(500) }

  function start(t: TestContext, lists: Readonly<Record<string, string>>) {
    const thread = new FakeThread()
    const started: (() => void)[] = []
    const sources = new Sources({
      openThread: (onSnapshot) => {
        started.push(onSnapshot)
        return thread
      },
    })
    t.onTestFinished(() => sources.keep([]))
    const open = async (...options: Parameters<Sources['open']>): Promise<SnapshotSource> => {
      await sources.prepare(parseBlocks(block('kubernetes cluster.local')))
      const source = sources.open(...options)
      const api = sources.apis.at(-1)
      if (api !== undefined && api.calls.length < 4) answerLists(api, lists)
      return source
    }
    return { sources, thread, started, open }
  }

  test('are read by a thread of their own from the first page on', async (t) => {
    const { sources, thread, started, open } = start(t, LARGE)
    const source = await open(directiveOf())
    await vi.waitFor(() => assert.equal(started.length, 1))
    assert.deepEqual(thread.watched, [['ttl 5']])
    const ready = sources.ready()
    let isReady = false
    void ready.then(() => {
      isReady = true
    })
    await new Promise(setImmediate)
    assert.deepEqual([isReady, source.current()], [false, undefined])
    thread.state = { snapshot: EMPTY, freshness: 'fresh' }
    started[0]?.()
    thread.finish()
    assert.equal(await within(ready, 'the thread'), true)
    assert.deepEqual([source.current(), source.freshness()], [thread.state.snapshot, 'fresh'])
    assert.equal(await source.load(0), thread.state.snapshot)
    assert.equal(await sources.threadMetrics(), 'a 1\n')
    assert.deepEqual(sources.problems(), ['x: waits'])
    assert.equal(source.transferRecords, undefined)
  })

  test('are those with many endpoints, too, in however few slices', async (t) => {
    const small = start(t, { ...SHOP_LISTS, endpointslices: sliceOf(1999) })
    await small.open(directiveOf())
    await within(small.sources.ready(), 'the lists')
    assert.equal(small.started.length, 0)
    const large = start(t, { ...SHOP_LISTS, endpointslices: sliceOf(2000) })
    await large.open(directiveOf())
    await vi.waitFor(() => assert.equal(large.started.length, 1))
  })

  test('are answered from the last snapshot until the thread has read them', async (t) => {
    const { sources, thread, started, open } = start(t, SMALL)
    const source = await open(directiveOf())
    await within(sources.ready(), 'the lists')
    assert.deepEqual([started.length, sources.threadMetrics()], [0, undefined])
    const [api] = sources.apis
    const watches = Object.keys(SHOP_LISTS).map((resource) => api?.watching(resource))
    for (const watch of watches) watch?.open()
    const [, services] = watches
    await vi.waitFor(() => assert.equal(source.freshness(), 'fresh'))
    const last = source.current()
    assert.ok(last)
    services?.send('ADDED', value('{ metadata: { namespace: shop, name: new }, spec: {} }'))
    await vi.waitFor(() => assert.equal(started.length, 1))
    // Two copies of a growing cluster would need twice the memory.
    await vi.waitFor(() => assert.ok(watches.every((watch) => watch?.signal.aborted)))
    started[0]?.()
    assert.deepEqual([source.current(), source.freshness()], [last, 'fresh'])
    sources.clock.nowMs += 59_999
    assert.equal(source.freshness(), 'fresh')
    sources.clock.nowMs += 1
    assert.deepEqual([source.current(), source.freshness()], [last, 'stale'])
    thread.state = { snapshot: EMPTY, freshness: 'fresh' }
    started[0]?.()
    assert.deepEqual([source.current(), source.freshness()], [EMPTY, 'fresh'])
  })

  test('are answered from the thread once it has as much as an incomplete snapshot', async (t) => {
    const { sources, thread, started, open } = start(t, LARGE)
    const source = await open(directiveOf())
    await vi.waitFor(() => assert.equal(started.length, 1))
    started[0]?.()
    assert.deepEqual([source.current(), source.freshness()], [undefined, 'partial'])
    thread.state = { snapshot: EMPTY, freshness: 'partial' }
    started[0]?.()
    assert.deepEqual([source.current(), source.freshness()], [EMPTY, 'partial'])
    sources.keep([])
  })

  test('share the thread, which stops when no directive needs it', async (t) => {
    const { sources, thread, started, open } = start(t, LARGE)
    const one = directiveOf()
    await open(one)
    await vi.waitFor(() => assert.equal(started.length, 1))
    const two = directiveOf('ttl 7')
    await open(two)
    sources.keep([{ directive: two, tree: CLUSTER_TREE }])
    assert.deepEqual(thread.watched, [['ttl 5'], ['ttl 5', 'ttl 7'], ['ttl 7']])
    sources.keep([])
    assert.deepEqual([thread.isStopped, sources.threadMetrics()], [true, undefined])
  })

  test('stay here when a plugin reads their objects', async (t) => {
    const { sources, started, open } = start(t, LARGE)
    const source = await open(directiveOf(), CLUSTER_TREE, true)
    await within(sources.ready(), 'the lists')
    assert.deepEqual([started.length, source.freshness()], [0, 'stale'])
    assert.ok(source.transferRecords)
  })
})
