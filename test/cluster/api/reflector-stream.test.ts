import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import { ApiError } from '../../../src/cluster/api/object-api.ts'
import { GONE, Mirror, startWatch, WEB } from '../follow/mirror.ts'
import { page, value } from '../follow/scripted-api.ts'

const DB = '{ metadata: { namespace: shop, name: db, resourceVersion: "7" } }'
const HOUR_MS = 3_600_000

/** The bookmark after the last initial event. */
function initialEnd(version: string): unknown {
  const annotations = '{ k8s.io/initial-events-end: "true" }'
  return value(`{ metadata: { resourceVersion: "${version}", annotations: ${annotations} } }`)
}

async function startStream(t: TestContext): Promise<Mirror> {
  const mirror = new Mirror(t)
  mirror.api.streams = true
  await mirror.start()
  mirror.watch.open()
  return mirror
}

describe('a streamed list', () => {
  test('is one request with the watch', async (t) => {
    const mirror = await startStream(t)
    mirror.watch.send('ADDED', value(WEB))
    mirror.watch.send('ADDED', value(DB))
    const { reflector } = mirror
    assert.deepEqual([reflector.hasSynced, reflector.isConnected], [false, false])
    mirror.watch.send('BOOKMARK', initialEnd('8'))
    assert.deepEqual([reflector.hasSynced, reflector.isConnected], [true, true])
    assert.deepEqual(mirror.news(), ['set: Service shop/web', 'set: Service shop/db', 'change'])
    mirror.watch.send('DELETED', value(WEB))
    await mirror.endWatch()
    assert.deepEqual(mirror.api.calls, ['watch services all', 'watch services 6'])
    assert.deepEqual(mirror.news(), ['delete: Service shop/web', 'change', 'close'])
    assert.equal(reflector.listCount, 1)
  })

  test('after 410 passes only what changed', async (t) => {
    const mirror = await startStream(t)
    mirror.watch.send('ADDED', value(WEB))
    mirror.watch.send('ADDED', value(DB))
    mirror.watch.send('BOOKMARK', initialEnd('8'))
    mirror.watch.fail(GONE)
    mirror.news()
    await mirror.clock.advance(500)
    mirror.watch.send('ADDED', value(DB))
    assert.equal(mirror.reflector.count, 2)
    mirror.watch.send('BOOKMARK', initialEnd('20'))
    assert.deepEqual(mirror.api.calls.slice(1), ['watch services all'])
    assert.deepEqual(mirror.news(), ['close', 'delete: Service shop/web', 'change'])
  })

  test('that breaks is repeated after a pause, and removes nothing', async (t) => {
    const mirror = await startStream(t)
    mirror.watch.send('ADDED', value(WEB))
    mirror.watch.fail(new ApiError('reset by peer'))
    await mirror.clock.advance(499)
    assert.deepEqual(mirror.news(), [
      'set: Service shop/web',
      'error: cannot follow services: reset by peer; again in 0.5 s',
    ])
    await mirror.clock.advance(1)
    assert.deepEqual(mirror.api.calls, ['watch services all', 'watch services all'])
    assert.equal(mirror.reflector.count, 1)
  })

  test('that the server refuses comes in pages from then on, without an error', async (t) => {
    const mirror = new Mirror(t)
    mirror.api.answer('services', page('5'), page('9'))
    await mirror.start()
    mirror.api.streams = true
    mirror.watch.fail(GONE)
    await mirror.clock.advance(500)
    assert.deepEqual(mirror.api.calls, [
      'list services',
      'watch services 5',
      'list services',
      'watch services 9',
    ])
    assert.deepEqual(mirror.news(), ['change', 'change'])
  })

  test('that an old etcd fails comes in pages, without an error', async (t) => {
    const mirror = await startStream(t)
    mirror.api.answer('services', page('9'))
    mirror.watch.fail(new ApiError('storage feature RequestWatchProgress is disabled', 500))
    await mirror.clock.advance(0)
    assert.deepEqual(mirror.api.calls.slice(1), ['list services', 'watch services 9'])
    assert.deepEqual(mirror.news(), ['change'])
  })

  test('that the server never ends comes in pages', async (t) => {
    const mirror = await startStream(t)
    mirror.api.answer('services', page('9'))
    mirror.watch.end()
    await mirror.clock.advance(500)
    assert.deepEqual(mirror.api.calls.slice(1), ['list services', 'watch services 9'])
  })

  test('that the server ignores comes in pages', async (t) => {
    const mirror = await startStream(t)
    mirror.watch.send('ADDED', value(WEB))
    mirror.api.answer('services', page('9', `[${WEB}]`))
    mirror.watch.send('BOOKMARK', value('{ metadata: { resourceVersion: "9" } }'))
    await mirror.clock.advance(0)
    assert.deepEqual(mirror.api.calls.slice(1), ['list services', 'watch services 9'])
    assert.deepEqual(mirror.news(), ['set: Service shop/web', 'change'])
  })
})

describe('a list of more than an hour ago', () => {
  test('is repeated when the watch ends', async (t) => {
    const mirror = new Mirror(t)
    await startWatch(mirror, `[${WEB}]`)
    await mirror.clock.advance(HOUR_MS)
    mirror.api.answer('services', page('9', `[${WEB}]`))
    mirror.watch.send('BOOKMARK', value('{ metadata: { resourceVersion: "8" } }'))
    await mirror.endWatch()
    assert.deepEqual(mirror.api.calls.slice(2), ['list services', 'watch services 9'])
    assert.deepEqual(mirror.news(), ['close', 'change'])
  })

  test('finds what a watch that looked alive never reported', async (t) => {
    const mirror = new Mirror(t)
    await startWatch(mirror, `[${WEB}]`)
    await mirror.clock.advance(HOUR_MS)
    mirror.api.answer('services', page('9', `[${WEB}, ${DB}]`))
    mirror.watch.send('BOOKMARK', value('{ metadata: { resourceVersion: "8" } }'))
    await mirror.endWatch()
    assert.deepEqual(mirror.news(), [
      'close',
      'set: Service shop/db',
      'warning: the watch of services missed 1 changes, found by a new list',
      'change',
    ])
    assert.equal(mirror.reflector.missed, 1)
  })
})

test('a page that the server is too busy for is asked for again, not the whole list', async (t) => {
  const mirror = new Mirror(t)
  const busy = new ApiError('too many requests', 429, { retryAfterMs: 3000 })
  mirror.api.answer('services', page('5', `[${WEB}]`, 'two'), busy, page('5', `[${DB}]`))
  await mirror.start()
  await mirror.clock.advance(4500)
  assert.deepEqual(mirror.api.calls, [
    'list services',
    'list services two',
    'list services two',
    'watch services 5',
  ])
  assert.deepEqual(mirror.clock.delays, [4500])
})
