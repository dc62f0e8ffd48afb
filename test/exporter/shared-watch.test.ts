import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import { ApiError, type Collection } from '../../src/exporter/object-api.ts'
import { type Followed, SharedWatch } from '../../src/exporter/shared-watch.ts'
import { describeObject } from '../../src/kubernetes/objects/objects.ts'
import { FakeClock } from './fake-clock.ts'
import { SERVICES, WEB } from './mirror.ts'
import { page, ScriptedApi, value } from './scripted-api.ts'

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
  /** What was told since the last time this was asked. */
  readonly news: () => string[]
}

function start(t: TestContext): Running {
  const api = new ScriptedApi()
  const clock = new FakeClock()
  const lines: string[] = []
  const { sleep } = clock
  const failing = { onWarning: assert.fail, onError: assert.fail }
  const shared = new SharedWatch({ api, ...failing, sleep, random: () => 1 })
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
    `cannot follow namespaces: ${denied.message}; again in 1.0 s`,
  ])
})
