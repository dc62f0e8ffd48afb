import assert from 'node:assert/strict'
import { test } from 'vitest'
import { NO_FILES } from '../../../src/corefile/lexeme-stream.ts'
import { parseCorefile } from '../../../src/corefile/parse-corefile.ts'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import { parseQuery } from '../../../src/dns/wire/query.ts'
import { visibilityOf } from '../../../src/gateway/access/token.ts'
import { readGatewayConfig } from '../../../src/gateway/config/config.ts'
import { ClusterZones, formatGatewayMetrics } from '../../../src/gateway/snapshots/cluster-zones.ts'
import { ShardMemory } from '../../../src/gateway/snapshots/shard-memory.ts'
import { createMemoryStore } from '../../../src/gateway/snapshots/store.ts'
import { createResolver } from '../../../src/resolver/chain/create-resolver.ts'
import type { ClientVisibility } from '../../../src/resolver/contract/client.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { FakeHost } from '../../fake-host.ts'
import { parseQuestion } from '../../message-text.ts'
import { snapshotOf, WEB } from '../publishing.ts'
import { newReader } from '../reading.ts'
import { WHOLE_SCOPE } from '../whole-scope.ts'

const COREFILE = `. {
  kubernetes example.test {
    cluster shop
  }
}
lab.example.test {
  kubernetes lab.example.test {
    cluster lab
  }
}
`
const { privateKey, publicKeyText: publicKey } = await keys()
const QUERY = parseQuery(parseQuestion('web.shop.svc.lab.example.test A').message)

async function openZones(lines: readonly string[]): Promise<ClusterZones> {
  const host = new FakeHost()
  const cluster = { publicKey, tokenSha256: 'a'.repeat(64) }
  const CLUSTERS = JSON.stringify({ shop: cluster, lab: cluster })
  const config = await readGatewayConfig({ COREFILE, CLUSTERS })
  const store = createMemoryStore()
  const time = new Date(host.now() - 7000).toISOString()
  const { signed, shards } = await snapshotOf(privateKey, [...lines], { time })
  for (const [sha256, bytes] of shards) await store.writeShard(sha256, bytes, 0)
  await store.writeManifest(1, signed, { generations: new Set() })
  const runtime = {
    host,
    originOf: (id: string) => (id === 'shop' ? store : createMemoryStore()),
  }
  const zones = new ClusterZones(config, runtime, { clock: host, needsFacts: () => false })
  const openCluster = zones.open.bind(zones)
  createResolver(
    parseCorefile(COREFILE, 'Corefile', NO_FILES),
    Object.assign(host, { openCluster }),
  )
  return zones
}

test('a name belongs to the closest zone', async () => {
  const zones = await openZones([WEB])
  assert.deepEqual(
    zones.find(QUERY)?.parts.map(({ cluster }) => cluster),
    ['lab'],
  )
  assert.equal(zones.find(parseQuery(parseQuestion('www.example.org A').message)), undefined)
})

test('a cluster without a snapshot is not ready', async () => {
  const zones = await openZones([WEB])
  assert.deepEqual(await zones.notReady(), ['lab'])
})

test('the age is that of the closest zone that the client sees', async () => {
  const zones = await openZones([WEB])
  await zones.notReady()
  const ageFor = (view: ClientVisibility | undefined): number | undefined =>
    zones.ageMs(QUERY, view)
  assert.equal(ageFor(undefined), Number.POSITIVE_INFINITY)
  assert.equal(ageFor(visibilityOf({ ...WHOLE_SCOPE, clusters: ['shop'] })), 7000)
  assert.equal(ageFor(visibilityOf({ ...WHOLE_SCOPE, clusters: ['none'] })), undefined)
})

test('a cluster has its age, generation and size, once there is a snapshot', async () => {
  const { privateKey, publicKey } = await keys()
  const { signed } = await snapshotOf(privateKey, [WEB], { generation: 7, records: 12 })
  const reader = newReader({
    cluster: 'shop',
    publicKey,
    origin: { readManifest: async () => signed, readShard: async () => undefined },
    times: { refreshMs: 1000, staleMs: 60_000, expireMs: 3_600_000 },
    memory: new ShardMemory(),
    after: () => () => undefined,
    clock: { now: () => Date.parse('2026-01-01T00:00:02.500Z'), elapsed: () => 0 },
    onError: assert.fail,
  })
  const host = { metrics: new Metrics(), isolatesRequests: true }
  const linesNow = (): string[] => {
    const lines = [...formatGatewayMetrics(host, new Map([['shop', reader]]))].join('').split('\n')
    return lines.filter((line) => line !== '' && !line.startsWith('#'))
  }
  const scope = 'kubedoh_gateway_metrics_scope{scope="isolate"} 1'
  assert.deepEqual(linesNow(), [scope])
  await reader.load()
  assert.deepEqual(linesNow(), [
    scope,
    'kubedoh_snapshot_age_seconds{cluster="shop"} 2.5',
    'kubedoh_snapshot_generation{cluster="shop"} 7',
    'kubedoh_snapshot_records{cluster="shop"} 12',
  ])
})
