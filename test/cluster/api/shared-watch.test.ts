import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import { ApiError, type Collection, collectionsFor } from '../../../src/cluster/api/object-api.ts'
import { ClusterWatch, type Followed, SharedWatch } from '../../../src/cluster/api/shared-watch.ts'
import { describeObject } from '../../../src/cluster/objects/objects.ts'
import { FakeClock, START_MS, settle } from '../follow/fake-clock.ts'
import { SERVICES, WEB } from '../follow/mirror.ts'
import {
  answerLists,
  openWatches,
  page,
  ScriptedApi,
  SHOP_LISTS,
  value,
} from '../follow/scripted-api.ts'

const NAMESPACES: Collection = {
  kind: 'Namespace',
  resource: 'namespaces',
  path: '/api/v1/namespaces',
}
const DB = '{ metadata: { namespace: shop, name: db } }'

type Running = {
  readonly api: ScriptedApi
  readonly clock: FakeClock
  /** Follows as somebody of that name. */
  readonly follow: (who: string, collection?: Collection) => Followed
  /** The events since the last call. */
  readonly news: () => string[]
}

function start(t: TestContext): Running {
  const api = new ScriptedApi()
  const clock = new FakeClock()
  const lines: string[] = []
  const { sleep } = clock
  const failing = { onWarning: assert.fail, onError: assert.fail }
  const shared = new SharedWatch({
    api,
    ...failing,
    sleep,
    random: () => 1,
    elapsed: clock.elapsed,
  })
  const stops: (() => Promise<void>)[] = []
  t.onTestFinished(async () => {
    await Promise.all(stops.map((stop) => stop()))
  })
  const follow: Running['follow'] = (who, collection = SERVICES) => {
    const followed = shared.follow(collection, {
      sink: {
        set: (object) => lines.push(`${who}: ${describeObject(object)}`),
        delete: (kind, namespace, name) => lines.push(`${who}: no ${kind} ${namespace}/${name}`),
      },
      onChange: () => lines.push(`${who}: change`),
      onClose: () => lines.push(`${who}: close`),
    })
    stops.push(followed.stop)
    return followed
  }
  return { api, clock, follow, news: () => lines.splice(0) }
}

/** Starts with a list, and a watch from there. */
async function startOne(t: TestContext): Promise<Running & { readonly one: Followed }> {
  const started = start(t)
  started.api.answer('services', page('5', `[${WEB}]`))
  const one = started.follow('one')
  await started.clock.advance(0)
  started.api.watching('services').open()
  started.news()
  return { ...started, one }
}

describe('SharedWatch', () => {
  test('requests a collection once for all followers', async (t) => {
    const { api, clock, follow, news } = start(t)
    api.answer('services', page('5', `[${WEB}]`))
    assert.equal(follow('one').reflector, follow('two').reflector)
    await clock.advance(0)
    assert.deepEqual(api.calls, ['list services', 'watch services 5'])
    assert.deepEqual(news(), [
      'one: Service shop/web',
      'two: Service shop/web',
      'one: change',
      'two: change',
    ])
    api.watching('services').open()
    api.watching('services').send('DELETED', value(WEB))
    api.watching('services').end()
    await clock.advance(0)
    assert.deepEqual(news(), [
      'one: no Service shop/web',
      'two: no Service shop/web',
      'one: change',
      'two: change',
      'one: close',
      'two: close',
    ])
  })

  test('gives present objects to later followers', async (t) => {
    const { api, follow, news } = await startOne(t)
    api.watching('services').send('ADDED', value(DB))
    news()
    const { reflector } = follow('two')
    assert.deepEqual(news(), ['two: Service shop/web', 'two: Service shop/db'])
    assert.deepEqual([reflector.hasSynced, reflector.isConnected], [true, true])
    assert.equal(api.calls.length, 2)
  })

  test('goes on while somebody follows, and ends with the last', async (t) => {
    const { api, follow, news, one } = await startOne(t)
    const two = follow('two')
    news()
    await one.stop()
    api.watching('services').send('ADDED', value(DB))
    assert.deepEqual(news(), ['two: Service shop/db', 'two: change'])
    await two.stop()
    assert.throws(() => api.watching('services'))
    await two.stop()
  })

  test('starts again for a follower after the end', async (t) => {
    const { api, clock, follow, news, one } = await startOne(t)
    const ending = one.stop()
    api.answer('services', page('9'))
    follow('two')
    await ending
    await clock.advance(0)
    assert.deepEqual(api.calls.slice(2), ['list services', 'watch services 9'])
    assert.deepEqual(news(), ['two: change'])
  })

  test('separates different selections of a collection', async (t) => {
    const { api, follow } = await startOne(t)
    follow('two', { ...SERVICES, fieldSelector: 'metadata.name=web' })
    follow('three', { ...SERVICES, resource: 'others', path: '/api/v1/others' })
    await settle()
    assert.deepEqual(api.calls.slice(2), ['list services', 'list others'])
  })
})

test('SharedWatch logs a server that is away once for all collections', async (t) => {
  const api = new ScriptedApi()
  const clock = new FakeClock()
  const { sleep } = clock
  const away = new ApiError('connect ECONNREFUSED 192.0.2.1:6443')
  const denied = new ApiError('namespaces is forbidden: cannot list resource "namespaces"', 403)
  api.answer('services', away, away, page('5'))
  api.answer('namespaces', away, denied, denied)
  const errors: string[] = []
  const onError = (message: string): number => errors.push(message)
  const shared = new SharedWatch({
    api,
    onWarning: assert.fail,
    onError,
    sleep,
    random: () => 1,
    elapsed: clock.elapsed,
  })
  const sink = { set: () => undefined, delete: () => undefined }
  const follower = { sink, onChange: () => undefined, onClose: () => undefined }
  const followed = [SERVICES, NAMESPACES].map((one) => shared.follow(one, follower))
  t.onTestFinished(async () => {
    await Promise.all(followed.map(({ stop }) => stop()))
  })
  await clock.advance(1600)
  assert.deepEqual(errors, [
    `cannot follow services: ${away.message}; again in 0.5 s`,
    `cannot follow namespaces: ${denied.message}; the role cannot list or watch namespaces, ` +
      'add to its ClusterRole: ' +
      '{"apiGroups":[""],"resources":["namespaces"],"verbs":["list","watch"]}; again in 1.0 s',
  ])
})

const RESOURCES = Object.keys(SHOP_LISTS)
const CLUSTER_WATCH_DB = '{ metadata: { namespace: shop, name: db, resourceVersion: "9" } }'

type ClusterWatchRunning = {
  readonly api: ScriptedApi
  readonly clock: FakeClock
  readonly watch: ClusterWatch
  readonly ended: AbortController
  readonly running: Promise<void>
  /** The events since the last call. */
  readonly news: () => string[]
}

function startClusterWatch(t: TestContext): ClusterWatchRunning {
  const api = new ScriptedApi()
  const clock = new FakeClock()
  const lines: string[] = []
  const shared = new SharedWatch({
    api,
    onWarning: (message) => lines.push(`warning: ${message}`),
    onError: (message) => lines.push(`error: ${message}`),
    sleep: clock.sleep,
    random: () => 1,
    elapsed: clock.elapsed,
  })
  const watch = new ClusterWatch({
    shared,
    collections: collectionsFor({
      tree: { kind: 'cluster' },
      pods: 'disabled',
      hasEndpoints: true,
    }),
    sink: {
      set: (object) => lines.push(`set: ${describeObject(object)}`),
      delete: (kind, namespace, name) => lines.push(`delete: ${kind} ${namespace}/${name}`),
    },
    onChange: (isWhole) => lines.push(isWhole ? 'change' : 'early change'),
    now: clock.now,
  })
  const ended = new AbortController()
  const running = watch.run(ended.signal)
  t.onTestFinished(async () => {
    ended.abort()
    await running
  })
  return { api, clock, watch, ended, running, news: () => lines.splice(0) }
}

/** Starts with all collections listed and watched. */
async function startSynced(t: TestContext): Promise<ClusterWatchRunning> {
  const started = startClusterWatch(t)
  answerLists(started.api)
  await started.clock.advance(0)
  openWatches(started.api, RESOURCES)
  started.news()
  return started
}

describe('ClusterWatch', () => {
  test('reports changes as early ones before all collections have been listed', async (t) => {
    const { api, clock, watch, news } = startClusterWatch(t)
    api.answer('namespaces', page('1', SHOP_LISTS.namespaces))
    api.answer('services', page('2', SHOP_LISTS.services))
    await clock.advance(0)
    api.watching('namespaces').send('ADDED', value('{ metadata: { name: ops } }'))
    assert.equal(watch.hasSynced, false)
    assert.deepEqual(
      news().filter((line) => line !== 'early change'),
      ['set: Namespace shop', 'set: Service shop/web', 'set: Namespace ops'],
    )
  })

  test('reports one when the last is listed, and each after it', async (t) => {
    const { api, clock, watch, news } = startClusterWatch(t)
    answerLists(api)
    await clock.advance(0)
    assert.equal(watch.hasSynced, true)
    assert.deepEqual(
      news().filter((line) => line !== 'early change'),
      ['set: Namespace shop', 'set: Service shop/web', 'change'],
    )
    api.watching('services').send('ADDED', value(CLUSTER_WATCH_DB))
    assert.deepEqual(news(), ['set: Service shop/db', 'change'])
  })

  test('follows each collection by itself', async (t) => {
    const { api, clock, news } = await startSynced(t)
    api.watching('namespaces').fail(new ApiError('reset by peer'))
    api.watching('services').send('ADDED', value('{ metadata: { namespace: shop }, spec: 1 }'))
    await clock.advance(0)
    const error = 'error: cannot follow namespaces: reset by peer; again in 0.5 s'
    const warning = 'warning: Service shop: spec is 1, expected an object'
    assert.deepEqual(news().sort(), ['change', 'delete: Service shop/', error, warning])
  })

  test('knows the version of each collection', async (t) => {
    const { api, clock, watch } = startClusterWatch(t)
    assert.deepEqual(watch.sources(), { namespaces: '', services: '', endpointslices: '' })
    answerLists(api)
    await clock.advance(0)
    api.watching('services').send('ADDED', value(CLUSTER_WATCH_DB))
    assert.deepEqual(watch.sources(), { namespaces: '1', services: '9', endpointslices: '3' })
  })

  test('knows the state of each collection', async (t) => {
    const { api, clock, watch } = await startSynced(t)
    api.watching('services').send('ADDED', value(CLUSTER_WATCH_DB))
    api.watching('endpointslices').fail(new ApiError('gone', 410))
    api.answer('endpointslices', page('7'))
    await clock.advance(500)
    assert.deepEqual(watch.states(), [
      {
        resource: 'namespaces',
        count: 1,
        invalid: 0,
        lists: 1,
        missed: 0,
        isConnected: true,
        isAvailable: true,
      },
      {
        resource: 'services',
        count: 2,
        invalid: 0,
        lists: 1,
        missed: 0,
        isConnected: true,
        isAvailable: true,
      },
      {
        resource: 'endpointslices',
        count: 0,
        invalid: 0,
        lists: 2,
        missed: 0,
        isConnected: false,
        isAvailable: true,
      },
    ])
  })

  test('ends all with the signal', async (t) => {
    const { api, clock, ended, running } = await startSynced(t)
    api.watching('services').fail(new ApiError('reset by peer'))
    await clock.advance(0)
    ended.abort()
    await running
    assert.equal(clock.sleeping, 0)
    assert.throws(() => api.watching('namespaces'))
  })
})

describe('the state of the cluster is confirmed', () => {
  test('never before all watches are open', async (t) => {
    const { api, clock, watch } = startClusterWatch(t)
    answerLists(api)
    await clock.advance(0)
    openWatches(api, RESOURCES.slice(1))
    assert.equal(watch.confirmedMs(), undefined)
    openWatches(api, RESOURCES.slice(0, 1))
    assert.equal(watch.confirmedMs(), START_MS)
  })

  test('now, as long as they are', async (t) => {
    const { clock, watch } = await startSynced(t)
    await clock.advance(123_456)
    assert.equal(watch.confirmedMs(), START_MS + 123_456)
  })

  test('when the first of them ended, even without a call then', async (t) => {
    const { api, clock, watch } = await startSynced(t)
    await clock.advance(5000)
    api.watching('services').fail(new ApiError('reset by peer'))
    await clock.advance(100)
    api.watching('namespaces').fail(new ApiError('reset by peer'))
    await clock.advance(100)
    assert.equal(watch.confirmedMs(), START_MS + 5000)
  })

  test('now, when they are open again', async (t) => {
    const { api, clock, watch } = await startSynced(t)
    api.watching('services').fail(new ApiError('reset by peer'))
    await clock.advance(3000)
    assert.equal(watch.confirmedMs(), START_MS)
    openWatches(api, ['services'])
    assert.equal(watch.confirmedMs(), START_MS + 3000)
  })

  test('not by a watch from a version that is gone', async (t) => {
    const { api, clock, watch } = await startSynced(t)
    api.watching('services').end()
    await clock.advance(2000)
    openWatches(api, ['services'])
    api.watching('services').send('ERROR', value('{ code: 410 }'))
    await clock.advance(100)
    assert.equal(watch.confirmedMs(), START_MS)
  })
})
