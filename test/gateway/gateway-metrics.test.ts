import assert from 'node:assert/strict'
import { test } from 'vitest'
import { ClusterReader } from '../../src/gateway/cluster-reader.ts'
import { formatGatewayMetrics } from '../../src/gateway/gateway-metrics.ts'
import { ShardMemory } from '../../src/gateway/shard-memory.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { keys } from '../exporter/memory-gateway.ts'
import { snapshotOf, WEB } from './publishing.ts'

test('a cluster has its age, generation and size, once there is a snapshot', async () => {
  const { privateKey, publicKey } = await keys()
  const { signed } = await snapshotOf(privateKey, [WEB], { generation: 7, records: 12 })
  const reader = new ClusterReader({
    cluster: 'shop',
    publicKey,
    origin: { readManifest: async () => signed, readShard: async () => undefined },
    times: { refreshMs: 1000, blockMs: 5000, staleMs: 60_000, expireMs: 3_600_000 },
    memory: new ShardMemory(),
    after: () => () => undefined,
    clock: { now: () => Date.parse('2026-01-01T00:00:02.500Z'), elapsed: () => 0 },
    onError: assert.fail,
  })
  const metrics = new Metrics()
  const readers = new Map([['shop', reader]])
  assert.equal(formatGatewayMetrics(metrics, readers), '')
  await reader.load()
  const lines = formatGatewayMetrics(metrics, readers).split('\n')
  assert.deepEqual(
    lines.filter((line) => line !== '' && !line.startsWith('#')),
    [
      'kubedoh_snapshot_age_seconds{cluster="shop"} 2.5',
      'kubedoh_snapshot_generation{cluster="shop"} 7',
      'kubedoh_snapshot_records{cluster="shop"} 12',
    ],
  )
})
