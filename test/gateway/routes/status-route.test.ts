import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { LocalWriter } from '../../../src/gateway/snapshots/local-writer.ts'
import type { ClusterHistory } from '../../../src/gateway/snapshots/publish-routes.ts'
import { createMemoryStore } from '../../../src/gateway/snapshots/store.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { FakeHost } from '../../fake-host.ts'
import { snapshotOf, WEB } from '../publishing.ts'
import { CLIENT_TOKEN, clientSha256, Running } from '../running.ts'

const ADMIN = 'the-token-of-the-operator'
const READER = 'the-token-that-reads'
const { privateKey, publicKey, publicKeyText } = await keys()
const tokenSha256 = await hashToken('exporter')

/** What a cluster's writer does; nothing, ever, when it is `hangs`. */
type Said = Partial<ClusterHistory> | Error | 'hangs'

/** Starts a gateway whose clusters have writers that do so. */
async function start(
  said: Readonly<Record<string, Said>>,
  host: FakeHost = new FakeHost({ isGateway: true }),
): Promise<Running> {
  const clusters = Object.keys(said).map((id) => [id, { publicKey: publicKeyText, tokenSha256 }])
  const variables = {
    COREFILE: '. {\n}\n',
    CLUSTERS: JSON.stringify(Object.fromEntries(clusters)),
    ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
    READ_ONLY_TOKEN_SHA256: await hashToken(READER),
    CLIENT_TOKEN_SHA256: clientSha256,
  }
  const { now } = host
  const nothing = { manifests: [], pinned: undefined, served: undefined }
  const history = (cluster: string): Promise<ClusterHistory> => {
    const one = said[cluster]
    if (one instanceof Error) return Promise.reject(one)
    return one === 'hangs' ? new Promise(() => undefined) : Promise.resolve({ ...nothing, ...one })
  }
  const writerOf = (cluster: string): LocalWriter => {
    const writer = new LocalWriter({ cluster, publicKey, store: createMemoryStore(), now })
    return Object.assign(writer, { history: () => history(cluster) })
  }
  return Running.start(variables, host, { writerOf })
}

/** Returns what a writer has whose exporter confirmed its last generation some time ago. */
async function published(
  host: FakeHost,
  agoSeconds: number,
  more: Partial<ClusterHistory> = {},
): Promise<ClusterHistory> {
  const time = new Date(host.now() - 1000 * agoSeconds).toISOString()
  const generations = [8, 7].map((generation) =>
    snapshotOf(privateKey, [WEB], { generation, time }),
  )
  const manifests = (await Promise.all(generations)).map(({ manifest }) => manifest)
  return { manifests, pinned: undefined, served: 8, ...more }
}

async function status(
  running: Running,
  query = '',
): Promise<{ clusters: object[]; next: unknown }> {
  const response = await running.get(`/v1/status${query}`, READER)
  assert.equal(response.status, 200)
  return JSON.parse(await response.text())
}

describe('GET /v1/status', () => {
  const host = new FakeHost({ isGateway: true })
  const cases: {
    name: string
    ago: number
    more?: Partial<ClusterHistory>
    says: Readonly<Record<string, unknown>>
  }[] = [
    { name: 'fresh', ago: 59, says: { state: 'fresh', isPinned: false, followers: null } },
    { name: 'followed', ago: 0, more: { followers: 3 }, says: { state: 'fresh', followers: 3 } },
    { name: 'stale', ago: 60, says: { state: 'stale', ageSeconds: 60, generation: 8 } },
    { name: 'expired', ago: 86_400, says: { state: 'expired', ageSeconds: 86_400 } },
    {
      name: 'pinned',
      ago: 86_400,
      more: { pinned: 7, served: 7 },
      says: { state: 'stale', isPinned: true, generation: 7, newest: 8 },
    },
  ]
  for (const { name, ago, more, says } of cases) {
    test(`describes a cluster that is ${name}`, async () => {
      const running = await start({ shop: await published(host, ago, more) }, host)
      const { clusters } = await status(running)
      const time = new Date(host.now() - 1000 * ago).toISOString()
      const [one] = clusters
      assert.partialDeepStrictEqual(one, { cluster: 'shop', time, records: 1, shards: 1, ...says })
    })
  }

  test('says which clusters have nothing, do not answer, or fail', async () => {
    const said = { empty: {}, hung: 'hangs', broken: new Error('a secret'), next: {} } as const
    const running = await start(said)
    let isOver = false
    const asked = status(running).finally(() => {
      isOver = true
    })
    while (!isOver) {
      await new Promise(setImmediate)
      await running.host.advance(500)
    }
    assert.deepEqual(await asked, {
      clusters: [
        { cluster: 'broken', state: 'failed' },
        { cluster: 'empty', state: 'nothing_yet' },
        { cluster: 'hung', state: 'no_answer' },
        { cluster: 'next', state: 'nothing_yet' },
      ],
      next: null,
    })
    const logged = running.host.events.filter(({ level }) => level === 'error')
    const message = 'cannot read the state of a cluster'
    assert.deepEqual(logged, [{ level: 'error', message, cluster: 'broken', error: 'a secret' }])
  })

  test('has 24 clusters a page', async () => {
    const ids = Array.from({ length: 49 }, (_, i) => `c${i + 10}`)
    const running = await start(Object.fromEntries(ids.map((id) => [id, {}])))
    const seen: unknown[] = []
    let next: unknown = ''
    for (const length of [24, 24, 1]) {
      const page = await status(running, `?after=${next}`)
      assert.equal(page.clusters.length, length)
      seen.push(...page.clusters.map((one) => Object(one).cluster))
      ;({ next } = page)
    }
    assert.deepEqual([seen, next], [ids, null])
    assert.deepEqual(await status(running, '?after=zzz'), { clusters: [], next: null })
  })

  for (const [token, code] of [
    [ADMIN, 200],
    [READER, 200],
    ['exporter', 401],
    [CLIENT_TOKEN, 401],
    [undefined, 401],
  ] as const) {
    test(`answers ${code} to ${token ?? 'nobody'}`, async () => {
      const response = await (await start({ shop: {} })).get('/v1/status', token)
      assert.equal(response.status, code)
    })
  }
})
