import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ApiError, type ObjectPage } from '../../../src/cluster/api/object-api.ts'
import { BOOKMARK, GONE, Mirror, SERVICES, startWatch, WEB } from '../follow/mirror.ts'
import { page, value } from '../follow/scripted-api.ts'

describe('a failure', () => {
  const refused = new ApiError('connect ECONNREFUSED 192.0.2.1:6443')
  const again = (seconds: string): string =>
    `error: cannot follow services: ${refused.message}; again in ${seconds} s`

  test('of lists is logged once, and waited for longer each time', async (t) => {
    const mirror = new Mirror(t)
    mirror.api.answer('services', refused, refused, refused, page('5'))
    await mirror.start()
    await mirror.clock.advance(3499)
    assert.deepEqual(mirror.news(), [again('0.5')])
    await mirror.clock.advance(1)
    assert.deepEqual(mirror.news(), ['change'])
    assert.deepEqual(mirror.clock.delays, [500, 1000, 2000])
  })

  test('is waited for by a time that chance has a part in', async (t) => {
    const mirror = new Mirror(t, { random: 0.2 })
    mirror.api.answer('services', refused, refused)
    await mirror.start()
    await mirror.clock.advance(1000)
    assert.deepEqual(mirror.clock.delays, [300, 600])
  })

  test('of a watch restarts it from the same resource version', async (t) => {
    const mirror = new Mirror(t)
    await startWatch(mirror)
    mirror.watch.send('ADDED', value(WEB))
    mirror.watch.fail(refused)
    await mirror.clock.advance(500)
    assert.equal(mirror.api.calls.at(-1), 'watch services 6')
    assert.equal(mirror.reflector.listCount, 1)
  })

  const successes: { name: string; succeed: (mirror: Mirror) => void | Promise<void> }[] = [
    { name: 'an event', succeed: ({ watch }) => watch.send('ADDED', value(WEB)) },
    { name: 'a bookmark', succeed: ({ watch }) => watch.send('BOOKMARK', value(BOOKMARK)) },
    {
      name: 'a list',
      succeed: async (mirror) => {
        mirror.api.answer('services', page('9'))
        mirror.watch.fail(GONE)
        await mirror.clock.advance(500)
      },
    },
  ]
  for (const { name, succeed } of successes) {
    test(`after ${name} is waited for as shortly as the first`, async (t) => {
      const mirror = new Mirror(t)
      await startWatch(mirror)
      for (const delayMs of [500, 1000, 2000]) {
        mirror.watch.fail(refused)
        await mirror.clock.advance(delayMs)
      }
      await succeed(mirror)
      mirror.watch.fail(refused)
      await mirror.clock.advance(500)
      assert.equal(mirror.news().at(-1), again('0.5'))
      assert.equal(mirror.clock.delays.at(-1), 500)
    })
  }

  test('that is not the server’s ends all', async () => {
    const mirror = new Mirror({ onTestFinished: () => undefined })
    mirror.api.answer('services', page('5'))
    await mirror.start()
    mirror.watch.fail(new RangeError('ours'))
    await assert.rejects(mirror.end(), RangeError)
  })
})

describe('a watch', () => {
  test('without events is followed by a pause', async (t) => {
    const mirror = new Mirror(t, { random: 0.5 })
    await startWatch(mirror)
    await mirror.endWatch()
    await mirror.clock.advance(249)
    assert.equal(mirror.api.calls.length, 2)
    await mirror.clock.advance(1)
    assert.deepEqual(mirror.api.calls.slice(2), ['watch services 5'])
    assert.deepEqual(mirror.news(), ['close'])
  })

  const ends: { name: string; end: (mirror: Mirror) => void; news: string[] }[] = [
    { name: 'ends', end: ({ watch }) => watch.end(), news: ['close'] },
    { name: 'breaks', end: ({ watch }) => watch.fail(new ApiError('reset')), news: ['close'] },
    { name: 'is refused', end: ({ watch }) => watch.send('ERROR', value('{}')), news: [] },
  ]
  for (const { name, end, news } of ends) {
    test(`is connected from when it opens until it ${name}`, async (t) => {
      const mirror = new Mirror(t)
      mirror.api.answer('services', page('5'))
      await mirror.start()
      assert.equal(mirror.reflector.isConnected, false)
      mirror.watch.open()
      assert.equal(mirror.reflector.isConnected, true)
      mirror.news()
      end(mirror)
      await mirror.clock.advance(0)
      assert.equal(mirror.reflector.isConnected, false)
      assert.deepEqual(
        mirror.news().filter((line) => !line.startsWith('error')),
        news,
      )
    })
  }
})

describe('the signal ends it', () => {
  const cases: { name: string; pages: (ObjectPage | ApiError)[] }[] = [
    { name: 'in a list', pages: [] },
    { name: 'between two pages', pages: [page('5', '', 'two')] },
    { name: 'in a watch', pages: [page('5')] },
    { name: 'while it waits after a failure', pages: [new ApiError('away')] },
    { name: 'while it waits after 410', pages: [GONE] },
  ]
  for (const { name, pages } of cases) {
    test(name, async (t) => {
      const mirror = new Mirror(t)
      mirror.api.answer('services', ...pages)
      await mirror.start()
      const calls = mirror.api.calls.length
      mirror.news()
      await mirror.end()
      assert.deepEqual(mirror.news(), [])
      assert.equal(mirror.api.calls.length, calls)
      assert.equal(mirror.clock.sleeping, 0)
    })
  }
})

describe('a kind that not every cluster has', () => {
  const absent = new ApiError('the server could not find the requested resource', 404)
  const none = 'warning: the API server does not serve services; no names are published for it'

  test('is read by the newest version that the server has', async (t) => {
    const mirror = new Mirror(t, { olderPaths: ['/old', '/older'] })
    mirror.api.answer('services', absent, page('5', `[${WEB}]`))
    await mirror.start()
    assert.deepEqual(mirror.api.paths, [SERVICES.path, '/old', '/old'])
    assert.deepEqual(mirror.news(), ['set: Service shop/web', 'change'])
    await mirror.endWatch()
    assert.equal(mirror.api.paths.at(-1), '/old')
  })

  test('has no objects where the server has none of its versions', async (t) => {
    const mirror = new Mirror(t, { olderPaths: ['/old'] })
    mirror.api.answer('services', absent, absent)
    await mirror.start()
    const { hasSynced, isConnected, count } = mirror.reflector
    assert.deepEqual([hasSynced, isConnected, count], [true, true, 0])
    assert.deepEqual(mirror.news(), [none, 'change'])
    assert.equal(mirror.reflector.isServed, false)
    assert.equal(mirror.reflector.problem, 'the API server does not serve services')
    await mirror.clock.advance(59_999)
    assert.deepEqual(mirror.api.paths, [SERVICES.path, '/old'])
  })

  test('is tried again, and its absence logged once', async (t) => {
    const mirror = new Mirror(t, { olderPaths: [] })
    mirror.api.answer('services', absent, absent, page('5', `[${WEB}]`))
    await mirror.start()
    mirror.news()
    await mirror.clock.advance(60_000)
    assert.deepEqual(mirror.news(), ['close', 'change'])
    await mirror.clock.advance(60_000)
    assert.deepEqual(mirror.news(), ['close', 'set: Service shop/web', 'change'])
    assert.deepEqual([mirror.reflector.isServed, mirror.reflector.problem], [true, undefined])
  })

  test('goes with its definition, and so do its objects', async (t) => {
    const mirror = new Mirror(t, { olderPaths: [] })
    await startWatch(mirror, `[${WEB}]`)
    mirror.api.answer('services', absent)
    mirror.watch.fail(absent)
    await mirror.clock.advance(0)
    assert.deepEqual(mirror.news(), ['close', none, 'delete: Service shop/web', 'change'])
    assert.equal(mirror.reflector.count, 0)
  })

  test('is missed where every cluster should have it', async (t) => {
    const mirror = new Mirror(t)
    mirror.api.answer('services', absent)
    await mirror.start()
    assert.equal(mirror.reflector.hasSynced, false)
    assert.match(mirror.news().join(), /^error: cannot follow services: .*; again in 0.5 s$/)
  })
})
