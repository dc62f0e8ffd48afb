import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { EtcdClient, EtcdError } from '../../../src/server/etcd/etcd-client.ts'
import type { WatchMessage } from '../../../src/server/etcd/etcd-json.ts'
import { AUTHORITY, CLIENT, SERVER } from '../../certificates.ts'
import { freePort } from '../../free-port.ts'
import { connectionTo, type EtcdScript, startFakeEtcd } from '../fake-etcd.ts'

const SIGNAL = new AbortController().signal
const RANGE = { first: '/skydns/', end: '/skydns0' }
const NOW = { revision: 0, countMax: 10 }
const CREDENTIALS = { username: 'me', password: 'secret' }

const onePage: EtcdScript = () => ({ json: { header: { revision: '5' } } })

async function refusal(promise: Promise<unknown>): Promise<EtcdError> {
  try {
    await promise
  } catch (error) {
    if (error instanceof EtcdError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('EtcdClient', () => {
  test('requests ranges and leases', async (t) => {
    const { url, asked } = await startFakeEtcd(t, ({ path }) =>
      path === '/v3/kv/range' ? { json: { header: { revision: '5' } } } : { json: { TTL: '9' } },
    )
    const client = new EtcdClient(connectionTo([url]))
    assert.equal((await client.range(RANGE, { revision: 4, countMax: 7 }, SIGNAL)).revision, 5)
    assert.equal(await client.timeToLive('123', SIGNAL), 9)
    assert.deepEqual(
      asked.map(({ path, body }) => [path, body]),
      [
        [
          '/v3/kv/range',
          { key: 'L3NreWRucy8=', range_end: 'L3NreWRuczA=', revision: '4', limit: '7' },
        ],
        ['/v3/lease/timetolive', { ID: '123' }],
      ],
    )
    assert.equal(asked[0]?.headers['grpc-metadata-hasleader'], 'true')
    client.close()
  })

  test('watches until etcd ends that', async (t) => {
    const { url, asked } = await startFakeEtcd(t, (_, response) => {
      const [created, changed] = [{ created: true, header: { revision: '5' } }, { header: {} }]
      const lines = [created, changed].map((result) => JSON.stringify({ result })).join('\n')
      // Lines are cut anywhere, and may be empty.
      for (const part of [lines.slice(0, 20), `${lines.slice(20)}\n\n`]) response.write(part)
      response.end()
      return undefined
    })
    const client = new EtcdClient(connectionTo([url]))
    const messages: WatchMessage[] = []
    const onMessage = (message: WatchMessage): void => void messages.push(message)
    await client.watch(RANGE, 6, { signal: SIGNAL, onMessage })
    assert.deepEqual(
      messages.map(({ kind }) => kind),
      ['created', 'changes'],
    )
    const create = {
      key: 'L3NreWRucy8=',
      range_end: 'L3NreWRuczA=',
      start_revision: '6',
      progress_notify: true,
    }
    assert.deepEqual(asked[0]?.body, { create_request: create })
    client.close()
  })

  test('ends a watch that is not wanted any more', async (t) => {
    const { url } = await startFakeEtcd(t, (_, response) => {
      response.write('{"result":{"created":true}}\n')
      return undefined
    })
    const client = new EtcdClient(connectionTo([url]))
    const ended = new AbortController()
    const onMessage = (): void => ended.abort()
    await refusal(client.watch(RANGE, 6, { signal: ended.signal, onMessage }))
    const onFirst = (): void => {
      throw new EtcdError('not like that', 11)
    }
    const error = await refusal(client.watch(RANGE, 6, { signal: SIGNAL, onMessage: onFirst }))
    assert.deepEqual([error.message, error.code], ['not like that', 11])
    client.close()
  })

  test('times out on a silent watch and response', async (t) => {
    const { url } = await startFakeEtcd(t, ({ path }, response) => {
      if (path === '/v3/watch') response.write('{"result":{"created":true}}\n')
      return undefined
    })
    const client = new EtcdClient(connectionTo([url]), { answerMs: 40, silenceMs: 40 })
    const watching = client.watch(RANGE, 6, { signal: SIGNAL, onMessage: () => undefined })
    assert.equal((await refusal(watching)).message, 'no response in time')
    assert.equal((await refusal(client.range(RANGE, NOW, SIGNAL))).message, 'no response in time')
    client.close()
  })

  test('uses the next endpoint after a failure, in turn', async (t) => {
    const { url } = await startFakeEtcd(t, onePage)
    const client = new EtcdClient(connectionTo([`http://127.0.0.1:${await freePort()}`, url]))
    assert.match((await refusal(client.range(RANGE, NOW, SIGNAL))).message, /ECONNREFUSED/)
    for (const _ of [1, 2]) assert.equal((await client.range(RANGE, NOW, SIGNAL)).revision, 5)
    client.close()
  })

  test('authenticates once, and again when that does not hold any more', async (t) => {
    let tokens = 0
    let valid = 't1'
    const { url, asked } = await startFakeEtcd(t, ({ path, headers }) => {
      if (path === '/v3/auth/authenticate') return { json: { token: `t${++tokens}` } }
      return headers.authorization === valid
        ? { json: {} }
        : { status: 401, json: { error: 'etcdserver: invalid auth token', code: 16 } }
    })
    const client = new EtcdClient(connectionTo([url], { credentials: CREDENTIALS }))
    await client.range(RANGE, NOW, SIGNAL)
    await client.range(RANGE, NOW, SIGNAL)
    valid = 't2'
    const { message, code } = await refusal(client.range(RANGE, NOW, SIGNAL))
    assert.deepEqual([message, code], [`${url}: etcdserver: invalid auth token`, 16])
    await client.range(RANGE, NOW, SIGNAL)
    const paths = asked.map(({ path }) => path.split('/').at(-1))
    const [once, ask] = ['authenticate', 'range']
    assert.deepEqual(paths, [once, ask, ask, ask, once, ask])
    assert.deepEqual(asked[0]?.body, { name: 'me', password: 'secret' })
    client.close()
  })

  test('continues without a token if authentication is disabled', async (t) => {
    const { url, asked } = await startFakeEtcd(t, ({ path }) => {
      if (path !== '/v3/auth/authenticate') return { json: {} }
      return { status: 400, json: { error: 'authentication is not enabled', code: 9 } }
    })
    const client = new EtcdClient(connectionTo([url], { credentials: CREDENTIALS }))
    for (const _ of [1, 2]) await client.range(RANGE, NOW, SIGNAL)
    assert.equal(asked.length, 3)
    assert.equal(asked[2]?.headers.authorization, undefined)
    client.close()
  })

  test('quotes a response that is not JSON', async (t) => {
    const { url } = await startFakeEtcd(t, ({ path }) => ({
      status: path === '/v3/kv/range' ? 200 : 404,
      json: '404 page not found\n',
    }))
    const client = new EtcdClient(connectionTo([url]))
    const range = await refusal(client.range(RANGE, NOW, SIGNAL))
    assert.equal(range.message, 'the response is not JSON: 404 page not found')
    const lease = await refusal(client.timeToLive('1', SIGNAL))
    assert.equal(lease.message, `${url}: 404 page not found`)
    client.close()
  })

  test('shows its certificate, and believes one authority', async (t) => {
    const tls = { ...SERVER, ca: AUTHORITY, requestCert: true, rejectUnauthorized: true }
    const { url } = await startFakeEtcd(t, onePage, tls)
    const trusting = new EtcdClient(connectionTo([url], { tls: { ...CLIENT, ca: AUTHORITY } }))
    assert.equal((await trusting.range(RANGE, NOW, SIGNAL)).revision, 5)
    trusting.close()
    const wary = new EtcdClient(connectionTo([url], { tls: CLIENT }))
    assert.match((await refusal(wary.range(RANGE, NOW, SIGNAL))).message, /certificate/)
    wary.close()
  })

  test('refuses files that do not fit', () => {
    const tls = { cert: SERVER.cert, key: CLIENT.key }
    assert.throws(() => new EtcdClient(connectionTo(['https://127.0.0.1'], { tls })), {
      name: 'ConfigError',
      message: /^Corefile:2:3: cannot use the files of "tls": /,
    })
  })
})
