import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { ObjectPage } from '../../../src/cluster/api/object-api.ts'
import { BOOKMARK, GONE, Mirror, startWatch, WEB } from '../follow/mirror.ts'
import { page, value } from '../follow/scripted-api.ts'

const DB = '{ metadata: { namespace: shop, name: db, resourceVersion: "7" } }'
const EXPIRED = '{ kind: Status, code: 410, reason: Expired, message: too old resource version }'

/** `web` as nobody can read it. */
function unreadable(port: string): string {
  return `{ metadata: { namespace: shop, name: web }, spec: { ports: [{ port: ${port} }] } }`
}

function complaint(port: string): string {
  return `Service shop/web: spec.ports[0].port is ${port}, expected a port from 1 to 65535`
}

describe('a list', () => {
  const cases: { name: string; pages: ObjectPage[]; calls: string[]; news: string[] }[] = [
    {
      name: 'of nothing is a change',
      pages: [page('5')],
      calls: ['list services', 'watch services 5'],
      news: ['change'],
    },
    {
      name: 'gives all objects before the change is reported',
      pages: [page('5', `[${WEB}, ${DB}]`)],
      calls: ['list services', 'watch services 5'],
      news: ['set: Service shop/web', 'set: Service shop/db', 'change'],
    },
    {
      name: 'continues where the page before says',
      pages: [page('5', `[${WEB}]`, 'two'), page('5', '', 'three'), page('5', `[${DB}]`)],
      calls: ['list services', 'list services two', 'list services three', 'watch services 5'],
      news: ['set: Service shop/web', 'set: Service shop/db', 'change'],
    },
    {
      name: 'is watched from the version of its last page',
      pages: [page('5', '', 'two'), page('6')],
      calls: ['list services', 'list services two', 'watch services 6'],
      news: ['change'],
    },
    {
      name: 'passes over items that are no objects',
      pages: [page('5', `[null, 7, ${WEB}]`)],
      calls: ['list services', 'watch services 5'],
      news: [
        'delete: Service /',
        'warning: Service without a name: metadata.name is missing, expected a name',
        'delete: Service /',
        'warning: Service without a name: it is 7, expected an object',
        'set: Service shop/web',
        'change',
      ],
    },
  ]
  for (const { name, pages, calls, news } of cases) {
    test(name, async (t) => {
      const mirror = new Mirror(t)
      mirror.api.answer('services', ...pages)
      await mirror.start()
      assert.deepEqual(mirror.api.calls, calls)
      assert.deepEqual(mirror.news(), news)
    })
  }

  test('is not known before it is whole', async (t) => {
    const mirror = new Mirror(t)
    mirror.api.answer('services', page('5', `[${WEB}]`, 'two'))
    await mirror.start()
    const { reflector } = mirror
    assert.deepEqual(
      [reflector.hasSynced, reflector.resourceVersion, reflector.listCount],
      [false, '', 0],
    )
    assert.deepEqual(mirror.news(), ['set: Service shop/web'])
  })

  test('is counted, and so are its objects', async (t) => {
    const mirror = new Mirror(t)
    await startWatch(mirror, `[${WEB}, ${DB}]`)
    const { hasSynced, resourceVersion, listCount, count } = mirror.reflector
    assert.deepEqual([hasSynced, resourceVersion, listCount, count], [true, '5', 1, 2])
  })

  test('removes objects that are gone', async (t) => {
    const mirror = new Mirror(t)
    mirror.api.answer('services', page('5', `[${WEB}, ${DB}]`), page('9', `[${DB}]`))
    await mirror.start()
    mirror.news()
    mirror.watch.fail(GONE)
    await mirror.clock.advance(500)
    assert.deepEqual(mirror.news(), ['delete: Service shop/web', 'change'])
    assert.equal(mirror.reflector.count, 1)
  })
})

describe('an event', () => {
  const cases: {
    name: string
    type: string
    object: string
    news: string[]
    version: string
    count: number
  }[] = [
    {
      name: 'ADDED adds',
      type: 'ADDED',
      object: DB,
      news: ['set: Service shop/db', 'change'],
      version: '7',
      count: 2,
    },
    {
      name: 'MODIFIED replaces',
      type: 'MODIFIED',
      object: '{ metadata: { namespace: shop, name: web, resourceVersion: "9" } }',
      news: ['set: Service shop/web', 'change'],
      version: '9',
      count: 1,
    },
    {
      name: 'DELETED removes',
      type: 'DELETED',
      object: WEB,
      news: ['delete: Service shop/web', 'change'],
      version: '6',
      count: 0,
    },
    {
      name: 'BOOKMARK returns the version and nothing else',
      type: 'BOOKMARK',
      object: BOOKMARK,
      news: [],
      version: '8',
      count: 1,
    },
    {
      name: 'without a version leaves the version',
      type: 'MODIFIED',
      object: '{ metadata: { namespace: shop, name: web } }',
      news: ['set: Service shop/web', 'change'],
      version: '5',
      count: 1,
    },
  ]
  for (const { name, type, object, news, version, count } of cases) {
    test(name, async (t) => {
      const mirror = new Mirror(t)
      await startWatch(mirror, `[${WEB}]`)
      mirror.watch.send(type, value(object))
      assert.deepEqual(mirror.news(), news)
      assert.equal(mirror.reflector.resourceVersion, version)
      assert.equal(mirror.reflector.count, count)
      mirror.news()
      await mirror.endWatch()
      assert.equal(mirror.api.calls.at(-1), `watch services ${version}`)
      assert.equal(mirror.reflector.listCount, 1)
    })
  }

  test('is ignored after an event that ends the watch', async (t) => {
    const mirror = new Mirror(t)
    await startWatch(mirror)
    const { watch } = mirror
    watch.send('ERROR', value('{ code: 500, message: etcd is away }'))
    watch.send('ADDED', value(WEB))
    await mirror.clock.advance(0)
    assert.deepEqual(mirror.news(), ['error: cannot follow services: etcd is away; again in 0.5 s'])
    assert.equal(mirror.reflector.resourceVersion, '5')
  })
})

describe('a version that is gone', () => {
  const ways: { name: string; happen: (mirror: Mirror) => void }[] = [
    { name: 'by an event', happen: ({ watch }) => watch.send('ERROR', value(EXPIRED)) },
    { name: 'by the status of the watch', happen: ({ watch }) => watch.fail(GONE) },
  ]
  for (const { name, happen } of ways) {
    test(`${name} causes a new list, and no error`, async (t) => {
      const mirror = new Mirror(t)
      await startWatch(mirror)
      happen(mirror)
      await mirror.clock.advance(499)
      assert.deepEqual(mirror.api.calls.slice(2), [])
      mirror.api.answer('services', page('9', `[${WEB}]`))
      await mirror.clock.advance(1)
      assert.deepEqual(mirror.api.calls.slice(2), ['list services', 'watch services 9'])
      assert.deepEqual(
        mirror.news().filter((line) => line !== 'close'),
        ['set: Service shop/web', 'change'],
      )
      assert.equal(mirror.reflector.listCount, 2)
    })
  }

  test('during a list causes a new one from the first page', async (t) => {
    const mirror = new Mirror(t)
    mirror.api.answer('services', page('5', `[${WEB}]`, 'two'), GONE, page('9', `[${DB}]`))
    await mirror.start()
    await mirror.clock.advance(500)
    assert.deepEqual(mirror.api.calls, [
      'list services',
      'list services two',
      'list services',
      'watch services 9',
    ])
    assert.deepEqual(mirror.news(), [
      'set: Service shop/web',
      'set: Service shop/db',
      'delete: Service shop/web',
      'change',
    ])
  })
})

describe('an object that cannot be read', () => {
  const send = (mirror: Mirror, port: string): void =>
    mirror.watch.send('MODIFIED', value(unreadable(port)))

  test('is left out and warned of', async (t) => {
    const mirror = new Mirror(t)
    mirror.api.answer('services', page('5', `[${unreadable('0')}, ${DB}]`))
    await mirror.start()
    assert.deepEqual(mirror.news(), [
      'delete: Service shop/web',
      `warning: ${complaint('0')}`,
      'set: Service shop/db',
      'change',
    ])
    assert.equal(mirror.reflector.count, 1)
  })

  test('is warned of again only when something else is wrong', async (t) => {
    const mirror = new Mirror(t)
    await startWatch(mirror)
    for (const port of ['0', '0', '99999', '99999', '0']) send(mirror, port)
    assert.deepEqual(
      mirror.news().filter((line) => line.startsWith('warning')),
      ['0', '99999', '0'].map((port) => `warning: ${complaint(port)}`),
    )
  })

  test('is not warned of again by a new list', async (t) => {
    const mirror = new Mirror(t)
    await startWatch(mirror, `[${unreadable('0')}]`)
    mirror.api.answer('services', page('9', `[${unreadable('0')}]`))
    mirror.watch.fail(GONE)
    await mirror.clock.advance(500)
    assert.deepEqual(mirror.news(), ['close', 'delete: Service shop/web', 'change'])
  })

  const ends: { name: string; end: (mirror: Mirror) => void | Promise<void> }[] = [
    { name: 'it is deleted', end: ({ watch }) => watch.send('DELETED', value(WEB)) },
    { name: 'it can be read', end: ({ watch }) => watch.send('MODIFIED', value(WEB)) },
    {
      name: 'a new list lacks it',
      end: async (mirror) => {
        mirror.api.answer('services', page('9'))
        mirror.watch.fail(GONE)
        await mirror.clock.advance(500)
      },
    },
  ]
  for (const { name, end } of ends) {
    test(`is forgotten when ${name}`, async (t) => {
      const mirror = new Mirror(t)
      await startWatch(mirror)
      send(mirror, '0')
      await end(mirror)
      mirror.news()
      send(mirror, '0')
      assert.ok(mirror.news().includes(`warning: ${complaint('0')}`))
    })
  }

  test('replaces the object', async (t) => {
    const mirror = new Mirror(t)
    await startWatch(mirror, `[${WEB}]`)
    send(mirror, '0')
    assert.deepEqual(mirror.news(), [
      'delete: Service shop/web',
      `warning: ${complaint('0')}`,
      'change',
    ])
    assert.equal(mirror.reflector.count, 0)
  })

  test('of another group that has a kind of that name is no problem', async (t) => {
    const mirror = new Mirror(t)
    await startWatch(mirror)
    const other = `{ apiVersion: serving.knative.dev/v1, metadata: { namespace: a, name: b } }`
    mirror.watch.send('ADDED', value(other))
    assert.deepEqual(mirror.news(), ['delete: Service a/b', 'change'])
  })
})
