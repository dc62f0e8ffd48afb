import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'vitest'
import { CODE_COMPACTED, type EtcdApi, EtcdError } from '../../../src/server/etcd/etcd-client.ts'
import type { RangePage, WatchMessage } from '../../../src/server/etcd/etcd-json.ts'
import { EtcdWatch } from '../../../src/server/etcd/etcd-watch.ts'
import type { StoredKey } from '../../../src/snapshot/records/stored-keys.ts'
import { settle } from '../../fake-host.ts'

const CREATED: WatchMessage = { kind: 'created', revision: 5, cluster: 'c' }
const COMPACTED: WatchMessage = { kind: 'cancelled', reason: 'compacted', isCompacted: true }

/** An etcd that sends what a test passes to it, and all that the watch does. */
class Scene implements EtcdApi {
  readonly watch_: EtcdWatch
  readonly calls: string[] = []
  readonly news: string[] = []
  readonly changes: string[] = []
  readonly pages: (RangePage | EtcdError)[] = []
  private watcher: { send: (message: WatchMessage) => void; end: () => void } | undefined
  private wake: (() => void) | undefined

  constructor(t: TestContext, some: Partial<ConstructorParameters<typeof EtcdWatch>[0]> = {}) {
    this.watch_ = new EtcdWatch({
      api: this,
      path: '/skydns',
      now: () => 0,
      random: () => 1,
      sleep: (delayMs, signal) => {
        this.calls.push(`sleep ${delayMs}`)
        return new Promise((resolve) => {
          this.wake = resolve
          signal.addEventListener('abort', () => resolve())
        })
      },
      onWarning: (message) => this.news.push(`warning: ${message}`),
      onError: (message) => this.news.push(`error: ${message}`),
      onChange: (change, isValid) => {
        const key = change.kind === 'put' ? change.stored.key : change.key
        this.changes.push(`${change.kind} ${key}${isValid ? '' : ', invalid'}`)
      },
      ...some,
    })
    t.onTestFinished(() => this.watch_.stop())
  }

  readonly range: EtcdApi['range'] = async ({ first, end }, { revision }) => {
    this.calls.push(`range ${first} ${end} at ${revision}`)
    const page = this.pages.shift()
    if (page === undefined) throw new EtcdError('nobody is here')
    if (page instanceof EtcdError) throw page
    return page
  }

  readonly watch: EtcdApi['watch'] = ({ first, end }, revision, { signal, onMessage }) => {
    this.calls.push(`watch ${first} ${end} from ${revision}`)
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new EtcdError('aborted')))
      this.watcher = {
        end: resolve,
        send: (message) => {
          try {
            onMessage(message)
          } catch (error) {
            reject(error)
          }
        },
      }
    })
  }

  readonly timeToLive: EtcdApi['timeToLive'] = async (lease) => {
    this.calls.push(`lease ${lease}`)
    return 60
  }

  async run(...pages: readonly (RangePage | EtcdError)[]): Promise<this> {
    this.pages.push(...pages)
    void this.watch_.run()
    await settle()
    return this
  }

  async send(...messages: readonly WatchMessage[]): Promise<void> {
    for (const message of messages) this.watcher?.send(message)
    await settle()
  }

  async end(): Promise<void> {
    this.watcher?.end()
    await settle()
  }

  async awake(): Promise<void> {
    this.wake?.()
    await settle()
  }

  get keys(): string[] | undefined {
    const table = this.watch_.current()
    return table && [...table.below('')].map(([key]) => key)
  }
}

function stored(key: string, value = '{}', lease = ''): StoredKey {
  return { key: `/skydns/${key}`, value, lease }
}

function page(revision: number, keys: readonly StoredKey[], hasMore = false): RangePage {
  return { revision, cluster: 'c', keys, hasMore }
}

function put(revision: number, key: string, value?: string): WatchMessage {
  return { kind: 'changes', revision, changes: [{ kind: 'put', stored: stored(key, value) }] }
}

describe('EtcdWatch', () => {
  test('reads all pages as they were at the first, then watches from there', async (t) => {
    const scene = new Scene(t)
    await scene.run(page(5, [stored('a'), stored('b')], true), page(9, [stored('c')]))
    assert.deepEqual(scene.calls, [
      'range /skydns/ /skydns0 at 0',
      'range /skydns/b\0 /skydns0 at 5',
      'watch /skydns/ /skydns0 from 6',
    ])
    assert.deepEqual(scene.keys, ['/skydns/a', '/skydns/b', '/skydns/c'])
    await scene.watch_.synced
  })

  test('reports changes: those of a list when it is complete, and what a new one lacks', async (t) => {
    const scene = new Scene(t)
    await scene.run(page(5, [stored('a')], true))
    assert.deepEqual(scene.changes, [])
    scene.pages.push(page(5, [stored('a'), stored('b', '{')]))
    await scene.awake()
    assert.deepEqual(scene.changes.splice(0), ['put /skydns/a', 'put /skydns/b, invalid'])
    await scene.send(CREATED, put(6, 'b'), {
      kind: 'changes',
      revision: 7,
      changes: [{ kind: 'delete', key: '/skydns/a' }],
    })
    assert.deepEqual(scene.changes.splice(0), ['put /skydns/b', 'delete /skydns/a'])
    scene.pages.push(page(9, [stored('c')]))
    await scene.send(COMPACTED)
    await scene.awake()
    assert.deepEqual(scene.changes, ['delete /skydns/b', 'put /skydns/c'])
  })

  test('lists again on request, after a pause, without an error', async (t) => {
    const scene = await new Scene(t).run(page(5, [stored('a'), stored('b')]))
    scene.changes.length = 0
    scene.watch_.relist()
    scene.watch_.relist()
    await settle()
    assert.deepEqual([scene.calls.at(-1), scene.news], ['sleep 5000', []])
    scene.pages.push(page(9, [stored('b')]))
    await scene.awake()
    assert.deepEqual(scene.calls.slice(-2), [
      'range /skydns/ /skydns0 at 0',
      'watch /skydns/ /skydns0 from 10',
    ])
    assert.deepEqual(scene.changes, ['delete /skydns/a', 'put /skydns/b'])
    assert.deepEqual(scene.keys, ['/skydns/b'])
  })

  test('has no keys before all are read', async (t) => {
    const scene = await new Scene(t).run(page(5, [stored('a')], true))
    assert.equal(scene.keys, undefined)
    assert.deepEqual(scene.news, [
      'error: cannot watch the keys of etcd: nobody is here; retrying in 0.5 s',
    ])
    scene.pages.push(page(6, []))
    await scene.awake()
    assert.deepEqual(scene.keys, [])
  })

  test('follows changes', async (t) => {
    const scene = await new Scene(t).run(page(5, [stored('a')]))
    const gone: WatchMessage = {
      kind: 'changes',
      revision: 7,
      changes: [{ kind: 'delete', key: '/skydns/a' }],
    }
    await scene.send(CREATED, put(6, 'b'), gone)
    assert.deepEqual(scene.keys, ['/skydns/b'])
  })

  test('resumes at its revision when a watch ends', async (t) => {
    const scene = await new Scene(t).run(page(5, []))
    const progress: WatchMessage = { kind: 'changes', revision: 20, changes: [] }
    await scene.send(CREATED, put(6, 'b'), progress)
    await scene.end()
    assert.equal(scene.calls.at(-1), 'watch /skydns/ /skydns0 from 21')
  })

  test('pauses after a watch without messages', async (t) => {
    const scene = await new Scene(t).run(page(5, []))
    await scene.end()
    assert.equal(scene.calls.at(-1), 'sleep 500')
    await scene.awake()
    assert.equal(scene.calls.at(-1), 'watch /skydns/ /skydns0 from 6')
  })

  for (const [name, message] of [
    ['the past is forgotten', COMPACTED],
    ['revisions went back', { kind: 'created', revision: 4, cluster: 'c' }],
    ['it is another etcd', { kind: 'created', revision: 5, cluster: 'd' }],
  ] as const) {
    test(`reads all again when ${name}, and answers as before until then`, async (t) => {
      const scene = await new Scene(t).run(page(5, [stored('a')]))
      await scene.send(message)
      assert.equal(scene.calls.at(-1), 'sleep 500')
      assert.deepEqual(scene.keys, ['/skydns/a'])
      scene.pages.push(page(30, [stored('c')]))
      await scene.awake()
      assert.deepEqual(scene.calls.slice(-2), [
        'range /skydns/ /skydns0 at 0',
        'watch /skydns/ /skydns0 from 31',
      ])
      assert.deepEqual(scene.keys, ['/skydns/c'])
      assert.deepEqual(scene.news, [])
    })
  }

  test('reads all again when the past is forgotten between two pages', async (t) => {
    const first = page(5, [stored('a')], true)
    const forgotten = new EtcdError('compacted', CODE_COMPACTED)
    const scene = await new Scene(t).run(first, forgotten)
    scene.pages.push(page(8, []))
    await scene.awake()
    assert.deepEqual(scene.keys, [])
  })

  test('backs off after failures, and resets after a success', async (t) => {
    const scene = await new Scene(t).run()
    for (const _ of [1, 2]) await scene.awake()
    assert.deepEqual(
      scene.calls.filter((call) => call.startsWith('sleep')),
      ['sleep 500', 'sleep 1000', 'sleep 2000'],
    )
    scene.pages.push(page(5, []))
    await scene.awake()
    await scene.send({ kind: 'error', reason: 'no leader', code: 14 })
    assert.equal(scene.calls.at(-1), 'sleep 500')
    assert.match(scene.news.at(-1) ?? '', /no leader; retrying in 0\.5 s$/)
  })

  test('lists values beyond its bound once a minute, and keeps the keys of before', async (t) => {
    const scene = new Scene(t, { charactersMax: 120 })
    const long = JSON.stringify({ host: `${'a'.repeat(60)}.test` })
    await scene.run(page(5, [stored('a', long)]))
    await scene.send(put(6, 'a', long))
    assert.deepEqual(scene.news, [])
    await scene.send(put(7, 'b', long))
    const full = 'keys and values have over 120 characters; delete some'
    const error = `error: cannot watch the keys of etcd: ${full}; retrying in 60.0 s`
    assert.deepEqual(scene.news, [error])
    assert.equal(scene.calls.at(-1), 'sleep 60000')
    scene.pages.push(page(8, [stored('b', long), stored('c', long)]))
    await scene.awake()
    assert.deepEqual(scene.news, [error, error])
    assert.deepEqual(scene.keys, ['/skydns/a', '/skydns/b'])
    scene.pages.push(page(9, [stored('c', long)]))
    await scene.awake()
    assert.deepEqual(scene.keys, ['/skydns/c'])
    assert.match(scene.calls.at(-1) ?? '', /^watch .* from 10$/)
  })

  test('counts the raw values of a list, which it holds until its end', async (t) => {
    const scene = new Scene(t, { charactersMax: 120 })
    await scene.run(page(5, [stored('a', `{}${' '.repeat(120)}`)]))
    assert.match(scene.news.join(), /over 120 characters/)
    assert.deepEqual(scene.changes, [])
  })

  test('warns about some of the invalid values', async (t) => {
    const bad = Array.from({ length: 30 }, (_, i) => stored(`k${10 + i}`, '{'))
    const scene = await new Scene(t).run(page(5, bad))
    assert.equal(scene.news.length, 20)
    assert.equal(scene.news[0], 'warning: key "/skydns/k10" of etcd: its value is not JSON')
    assert.match(scene.news.at(-1) ?? '', /; further ones are not logged$/)
    await scene.send(put(6, 'again', '{'))
    assert.equal(scene.news.length, 21)
  })

  test('requests leases when their keys appear', async (t) => {
    const scene = new Scene(t, { onChange: undefined })
    await scene.run(page(5, [stored('a', '{}', '17')]))
    assert.ok(scene.calls.includes('lease 17'))
    assert.equal(scene.watch_.leaseSeconds('17'), 60)
  })

  test('requests no leases for an exporter, which does not publish their times', async (t) => {
    const scene = await new Scene(t).run(page(5, [stored('a', '{}', '17')]))
    assert.deepEqual(
      scene.calls.filter((call) => call.startsWith('lease')),
      [],
    )
  })
})
