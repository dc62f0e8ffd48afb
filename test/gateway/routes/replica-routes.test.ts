import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { EMPTY } from '../../../src/dns/bytes/bytes.ts'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { parseManifest } from '../../../src/snapshot/format/manifest.ts'
import { sha256Hex } from '../../../src/snapshot/format/signature.ts'
import { WEB } from '../publishing.ts'
import { CLIENT_TOKEN, EXPORTER_TOKEN, Running } from '../running.ts'
import { tokenRecord } from '../tokens.ts'

const REPLICA = 'the-token-of-a-replica'
const ADMIN = 'the-token-of-the-operator'
const MANIFEST = '/v1/clusters/shop/manifest'
const TOKENS = '/v1/token-list'
const STEP_MS = 50

async function start(): Promise<Running> {
  return Running.start({
    REPLICA_TOKEN_SHA256: await hashToken(REPLICA),
    ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
    CLIENT_TOKEN_SHA256: await hashToken(CLIENT_TOKEN),
  })
}

async function codeOf(response: Response): Promise<string> {
  const { error } = JSON.parse(await response.text())
  return `${response.status} ${error.code}`
}

/** Sends what a replica sends, with the entity tag of what it has. */
function follow(
  running: Running,
  path: string,
  etag = '',
  more: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const authorization = `Bearer ${REPLICA}`
  return running.send(path, { authorization, ...(etag && { 'if-none-match': etag }), ...more })
}

function tagOf({ headers }: Response): string {
  return headers.get('etag') ?? assert.fail('there is no entity tag')
}

/** Lets time pass until a response is there, or all are. */
async function settled<T>(running: Running, sent: Promise<T>): Promise<T> {
  let isSettled = false
  void sent.finally(() => {
    isSettled = true
  })
  while (!isSettled) {
    await running.host.advance(STEP_MS)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return sent
}

describe('a replica reads', () => {
  test('the manifest, its signature and its shards', async () => {
    const running = await start()
    await running.publish()
    const response = await follow(running, MANIFEST)
    const stored = await running.store.readManifest()
    assert.deepEqual(new Uint8Array(await response.arrayBuffer()), stored?.bytes)
    assert.equal(response.headers.get('kubedoh-signature'), stored?.signature)
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.equal(response.headers.has('kubedoh-replicas'), false)
    const [{ sha256 } = assert.fail()] = parseManifest(stored?.bytes ?? EMPTY).shards
    const shard = await follow(running, `/v1/clusters/shop/shards/${sha256}`)
    assert.equal(await sha256Hex(new Uint8Array(await shard.arrayBuffer())), sha256)
    assert.equal(shard.headers.get('cache-control'), 'private, max-age=31536000, immutable')
  })

  test('a manifest once: 304 until it is another one, or pinned', async () => {
    const running = await start()
    await running.publish()
    const etag = tagOf(await follow(running, MANIFEST))
    for (const known of [etag, `"x", ${etag}`]) {
      const same = await follow(running, MANIFEST, known)
      assert.deepEqual([same.status, await same.text(), tagOf(same)], [304, '', etag])
    }
    await running.store.pin(1)
    await running.host.advance(1000)
    const pinned = await follow(running, MANIFEST, etag)
    assert.deepEqual([pinned.status, pinned.headers.get('kubedoh-pinned')], [200, 'true'])
    assert.notEqual(tagOf(pinned), etag)
  })

  test('the list of tokens without the days of their use', async () => {
    const running = await start()
    const { record } = await tokenRecord({ usedDay: 7 })
    await running.tokens.add(record)
    const first = await follow(running, TOKENS)
    const { isWhole, records } = JSON.parse(await first.text())
    assert.equal(isWhole, true)
    assert.deepEqual(JSON.parse(records[0]).secrets, JSON.parse(JSON.stringify(record.secrets)))
    assert.equal(JSON.parse(records[0]).usedDay, undefined)
    await running.tokens.noteUse([[record.id, 8]])
    await running.host.advance(2000)
    assert.equal((await follow(running, TOKENS, tagOf(first))).status, 304)
    await running.tokens.remove(record.id)
    await running.host.advance(2000)
    const last = await follow(running, TOKENS, tagOf(first))
    assert.deepEqual(JSON.parse(await last.text()).records, [])
  })
})

describe('a replica waits', () => {
  const waits = [
    { name: 'as long as it prefers', prefer: 'wait=4', seconds: 4, applied: 'wait=4' },
    { name: 'a year at most 10 s', prefer: 'wait=31536000', seconds: 10, applied: 'wait=10' },
    { name: 'among other wishes', prefer: 'respond-async, wait=2', seconds: 2, applied: 'wait=2' },
    { name: 'not for a wish that is none', prefer: 'wait=-1', seconds: 0, applied: null },
  ]
  for (const { name, prefer, seconds, applied } of waits) {
    test(name, async () => {
      const running = await start()
      await running.publish()
      for (const path of [MANIFEST, TOKENS]) {
        const etag = tagOf(await follow(running, path))
        const beganMs = running.host.now()
        const response = await settled(running, follow(running, path, etag, { prefer }))
        assert.deepEqual([response.status, tagOf(response)], [304, etag])
        assert.equal(response.headers.get('preference-applied'), applied)
        const tookSeconds = (running.host.now() - beganMs) / 1000
        assert.ok(seconds <= tookSeconds && tookSeconds < 60, `${tookSeconds}`)
      }
    })
  }

  test('until something is published', async () => {
    const running = await start()
    let etag = ''
    for (const generation of [1, 2]) {
      const sent = follow(running, MANIFEST, etag, { prefer: 'wait=10' })
      await running.publish(WEB, generation)
      const response = await settled(running, sent)
      assert.equal(response.status, 200)
      etag = tagOf(response)
    }
  })

  test('with 255 others; further ones get at once what there is', async () => {
    const running = await start()
    await running.publish()
    const etag = tagOf(await follow(running, MANIFEST))
    const prefer = { prefer: 'wait=10' }
    const count = 256
    const ask = (): Promise<Response> => follow(running, MANIFEST, etag, prefer)
    const sent = Promise.all(Array.from({ length: count + 1 }, ask))
    const all = await settled(running, sent)
    assert.ok(all.every(({ status }) => status === 304))
    const applied = all.filter(({ headers }) => headers.has('preference-applied'))
    assert.equal(applied.length, count)
    const last = await settled(running, ask())
    assert.equal(last.headers.get('preference-applied'), 'wait=10')
  })
})

describe('the routes of replicas refuse', () => {
  const none = 'f'.repeat(64)
  const cases = [
    { name: 'no token', path: MANIFEST, token: '', code: '401 unauthorized' },
    { name: "the operator's token", path: MANIFEST, token: ADMIN, code: '401 unauthorized' },
    { name: "the exporter's token", path: TOKENS, token: EXPORTER_TOKEN, code: '401 unauthorized' },
    { name: "a client's token", path: TOKENS, token: CLIENT_TOKEN, code: '401 unauthorized' },
    { name: 'an unknown cluster', path: '/v1/clusters/nope/manifest', code: '404 unknown_cluster' },
    {
      name: 'its shards',
      path: `/v1/clusters/nope/shards/${none}`,
      code: '404 unknown_cluster',
    },
    { name: 'a cluster without a manifest', path: MANIFEST, code: '404 nothing_yet' },
    {
      name: 'a shard that there is not',
      path: `/v1/clusters/shop/shards/${none}`,
      code: '404 unknown_shard',
    },
    { name: 'what is no hash', path: '/v1/clusters/shop/shards/..%2Fx', code: '400 bad_hash' },
  ]
  for (const { name, path, token = REPLICA, code } of cases) {
    test(name, async () => {
      const running = await start()
      assert.equal(await codeOf(await running.get(path, token || undefined)), code)
    })
  }
})

describe('the token of a replica does nothing else:', () => {
  const cases: readonly [method: string, path: string, code: string][] = [
    ['PUT', MANIFEST, '403 replica_token'],
    ['PUT', `/v1/clusters/shop/shards/${'f'.repeat(64)}`, '403 replica_token'],
    ['PUT', '/v1/clusters/shop/publication', '403 replica_token'],
    ['GET', '/v1/clusters/shop', '403 replica_token'],
    ['GET', '/v1/clusters/shop/generations', '403 replica_token'],
    ['PUT', '/v1/clusters/shop/pin', '403 replica_token'],
    ['GET', '/v1/tokens', '403 replica_token'],
    ['POST', '/v1/tokens', '403 replica_token'],
    ['GET', '/v1/names', '403 replica_token'],
    ['GET', '/v1/explain?name=a.test', '403 replica_token'],
    ['GET', '/metrics', '401 unauthorized'],
    ['GET', '/resolve?name=a.test', '401 unauthorized'],
  ]
  for (const [method, path, code] of cases) {
    test(`${method} ${path}`, async () => {
      const running = await start()
      const response = await running.send(path, { authorization: `Bearer ${REPLICA}` }, method)
      assert.equal(await codeOf(response), code)
    })
  }

  test('nor does an empty token without REPLICA_TOKEN_SHA256', async () => {
    const running = await Running.start()
    assert.equal(await codeOf(await running.get(MANIFEST, '')), '401 unauthorized')
  })
})
