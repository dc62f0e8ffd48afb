/**
 * What a change costs to publish, in bytes: the shards that it re-writes, and the manifest.
 * @module
 */
import type { BuiltSnapshot } from '../src/cluster/follow/snapshot-builder.ts'
import { formatManifest, MANIFEST_VERSION } from '../src/snapshot/format/manifest.ts'
import { apiObjects, type GeneratedService, generateServices } from './cluster-objects.ts'
import { changedBytes, FollowedCluster } from './followed-cluster.ts'
import { parsed } from './generated-server.ts'
import { median, type Row, row } from './row.ts'

const RECORDS = 100_000
const CHANGES = 200
const ROLLOUTS = 20
const ROLLOUT_PODS = 100
const KIB = 1024

/** Measures. */
export function benchPublish(): Row[] {
  const cluster = new FollowedCluster(RECORDS)
  let before = cluster.build()
  const name = `${before.records.toLocaleString('en-US')} records`
  const cost = (change: () => void): number => {
    change()
    const after = cluster.build()
    const bytes = changedBytes(before, after) + manifestBytes(after)
    before = after
    return bytes / KIB
  }
  const repeat = (count: number, change: () => void): number =>
    median(Array.from({ length: count }, () => cost(change)))
  const endpoint = repeat(CHANGES, () => cluster.dropEndpoint(cluster.nextService()))
  let seed = 1000
  const service = repeat(CHANGES, () => {
    for (const object of apiObjects(generateServices(1, seed++)))
      cluster.builder.set(parsed(object))
  })
  const rollout = median(
    Array.from({ length: ROLLOUTS }, (_, i) => {
      const deployment = { ...cluster.nextService(), isDualStack: false }
      cost(() => cluster.setSlices({ ...deployment, endpoints: pods(2 * i) }))
      return cost(() => cluster.setSlices({ ...deployment, endpoints: pods(2 * i + 1) }))
    }),
  )
  return [
    row('publish', `one Endpoint, ${name}`, 'KiB', endpoint, { atMost: 64 }),
    row('publish', `one Service, ${name}`, 'KiB', service),
    row('publish', `a rollout of ${ROLLOUT_PODS} Pods, ${name}`, 'KiB', rollout),
    row('publish', `the manifest, ${name}`, 'KiB', manifestBytes(before) / KIB),
  ]
}

/** Pods of one generation of a Deployment, spread over 32 nodes. */
function pods(generation: number): GeneratedService['endpoints'] {
  return Array.from({ length: ROLLOUT_PODS }, (_, i) => ({
    addresses: [`10.200.${i & 31}.${((i >>> 5) + 4 * generation) & 255}`],
    hostname: '',
  }))
}

function manifestBytes({ shards, records, ttlSeconds, origins }: BuiltSnapshot): number {
  const manifest = formatManifest({
    version: MANIFEST_VERSION,
    cluster: 'bench',
    generation: 1_800_000_000,
    time: '2026-01-01T00:00:00.000Z',
    origins,
    ttlSeconds,
    records,
    sources: { services: '123456789', endpointslices: '123456789', namespaces: '123456789' },
    shards: shards.map(({ length }, i) => ({
      sha256: i.toString(16).padStart(64, '0'),
      bytes: length,
    })),
  })
  return manifest.length
}
