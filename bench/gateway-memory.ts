/**
 * What a gateway holds that has loaded all shards of a cluster.
 * @module
 */
import { ClusterReader } from '../src/gateway/snapshots/cluster-reader.ts'
import { ShardMemory } from '../src/gateway/snapshots/shard-memory.ts'
import { SnapshotFollower } from '../src/gateway/snapshots/snapshot-follower.ts'
import { formatManifest, MANIFEST_VERSION } from '../src/snapshot/format/manifest.ts'
import {
  generateKeyPair,
  importPrivateKey,
  importPublicKey,
  sha256Hex,
  signBytes,
} from '../src/snapshot/format/signature.ts'
import { FollowedCluster } from './followed-cluster.ts'
import { heapBytes } from './heap.ts'
import { type Row, row } from './row.ts'

const RECORDS = process.env.BENCH_QUICK === '1' ? 100_000 : 1_000_000
const MIB = 1024 * 1024
const HOUR_MS = 3_600_000

/** Measures bytes inside and outside the heap, with shards loaded one by one. */
export async function memoryRows(): Promise<Row[]> {
  const cluster = new FollowedCluster(RECORDS)
  const { shards, records, ttlSeconds, origins } = cluster.build()
  const pair = await generateKeyPair()
  const key = await importPrivateKey(pair.privateKey)
  const publicKey = await importPublicKey(pair.publicKey)
  if (key === undefined || publicKey === undefined) throw new TypeError('Not a pair of keys')
  const byHash = new Map<string, Uint8Array>()
  for (const bytes of shards) byHash.set(await sha256Hex(bytes), bytes)
  const bytes = formatManifest({
    version: MANIFEST_VERSION,
    cluster: 'bench',
    generation: 1,
    time: new Date().toISOString(),
    origins,
    ttlSeconds,
    records,
    sources: {},
    shards: [...byHash].map(([sha256, { length }]) => ({ sha256, bytes: length })),
  })
  const manifest = { bytes, signature: await signBytes(key, bytes) }
  const onError = (message: string): never => {
    throw new Error(message)
  }
  const elapsed = (): number => performance.now()
  const follower = new SnapshotFollower({
    cluster: 'bench',
    publicKey,
    refreshMs: HOUR_MS,
    elapsed,
    after: () => () => undefined,
    onError,
    origin: {
      readManifest: () => Promise.resolve(manifest),
      readShard: (sha256) => Promise.resolve(byHash.get(sha256)?.slice()),
    },
  })
  const reader = new ClusterReader({
    cluster: 'bench',
    follower,
    times: { refreshMs: HOUR_MS, staleMs: HOUR_MS, expireMs: HOUR_MS },
    memory: new ShardMemory(),
    clock: { now: Date.now, elapsed },
    onError,
  })
  const beforeBytes = heapBytes()
  await reader.load()
  for (let index = 0; index < byHash.size; index++) await reader.load(index)
  const loaded = reader.current()?.shards.filter((shard) => shard !== undefined).length
  if (loaded !== byHash.size) throw new Error(`${loaded} of ${byHash.size} shards fit`)
  const mib = (Math.max(0, heapBytes() - beforeBytes) + reader.heldBytes()) / MIB
  const name = `memory with all shards, ${records.toLocaleString('en-US')} records`
  return [row('gateway', name, 'MiB', mib, { atMost: 128 })]
}
