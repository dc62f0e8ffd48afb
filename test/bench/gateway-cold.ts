/**
 * How a gateway begins that has nothing in memory, and what it holds when it has all of it.
 * @module
 */

import { parseCorefile } from '../../src/corefile/parse-corefile.ts'
import { EMPTY } from '../../src/dns/bytes.ts'
import { nameOf } from '../../src/dns/name.ts'
import { TYPE } from '../../src/dns/rr-type.ts'
import { writeQuery } from '../../src/dns/write-query.ts'
import { ClusterReader } from '../../src/gateway/cluster-reader.ts'
import { ShardMemory } from '../../src/gateway/shard-memory.ts'
import type { SignedManifest } from '../../src/gateway/store.ts'
import { createResolver } from '../../src/resolver/create-resolver.ts'
import { createNodeHost } from '../../src/shim/node-host.ts'
import { formatManifest, MANIFEST_VERSION } from '../../src/snapshot/manifest.ts'
import {
  generateKeyPair,
  importPrivateKey,
  importPublicKey,
  sha256Hex,
  signBytes,
} from '../../src/snapshot/signature.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { ResolverClient } from '../resolver-client.ts'
import { FollowedCluster } from './followed-cluster.ts'
import { heapBytes } from './heap.ts'
import { median, type Row, row } from './row.ts'

const RECORDS = 1_000_000
const ROUNDS = 15
const MIB = 1024 * 1024
const COREFILE = '. {\n  kubernetes cluster.local {\n    cluster bench\n  }\n}\n'

/** A store that counts. */
type Store = {
  readonly manifest: SignedManifest
  readonly shards: ReadonlyMap<string, Uint8Array>
  readonly publicKey: CryptoKey
  reads: number
}

/** Measures. */
export async function coldRows(): Promise<Row[]> {
  const { store, names, records } = await prepare()
  // An isolate has no cluster's objects lying about, which would be gone through for garbage.
  heapBytes()
  const times: number[] = []
  let reads = 0
  for (let round = -3; round < ROUNDS; round++) {
    const text = names[(round + 3) * 997] ?? ''
    const message = writeQuery({ name: nameOf(text), type: TYPE.A })
    const { ask } = open(store)
    store.reads = 0
    const before = process.cpuUsage()
    const reply = await ask(message)
    const { user, system } = process.cpuUsage(before)
    if ((reply[7] ?? 0) === 0) throw new Error(`No answer for ${text}`)
    if (round >= 0) times.push((user + system) / 1000)
    reads = Math.max(reads, store.reads)
  }
  const name = `${records.toLocaleString('en-US')} records`
  return [
    row('gateway', `cold, reads of the store, ${name}`, 'reads', reads, { atMost: 2 }),
    row('gateway', `cold, CPU to the first answer, ${name}`, 'ms', median(times), { atMost: 5 }),
    row('gateway', `memory with all shards, ${name}`, 'MiB', await heldMib(store), { atMost: 128 }),
  ]
}

async function prepare(): Promise<{ store: Store; names: string[]; records: number }> {
  const cluster = new FollowedCluster(RECORDS)
  const names = cluster.services
    .filter(({ isHeadless }) => !isHeadless)
    .map(({ name, namespace }) => `${name}.${namespace}.svc.cluster.local`)
  return { store: await storeOf(cluster), names, records: cluster.build().records }
}

async function storeOf(cluster: FollowedCluster): Promise<Store> {
  const pair = await generateKeyPair()
  const [key, publicKey] = [
    await importPrivateKey(pair.privateKey),
    await importPublicKey(pair.publicKey),
  ]
  if (key === undefined || publicKey === undefined) throw new TypeError('Not a pair of keys')
  const { shards, records, ttlSeconds, origins } = cluster.build()
  const hashed = await Promise.all(
    shards.map(async (bytes) => [await sha256Hex(bytes), bytes] as const),
  )
  const bytes = formatManifest({
    version: MANIFEST_VERSION,
    cluster: 'bench',
    generation: 1,
    time: new Date().toISOString(),
    origins,
    ttlSeconds,
    records,
    sources: {},
    shards: hashed.map(([sha256, { length }]) => ({ sha256, bytes: length })),
  })
  const manifest = { bytes, signature: await signBytes(key, bytes) }
  return { manifest, shards: new Map(hashed), publicKey, reads: 0 }
}

/** Opens a gateway's reader and resolver, with nothing in memory. */
function open(store: Store): {
  readonly reader: ClusterReader
  readonly ask: (message: Uint8Array) => Promise<Uint8Array>
} {
  const log = (): void => undefined
  const openCluster = (): ClusterReader => reader
  const host = createNodeHost({ folder: '/', metrics: new Metrics(), log, openCluster, abort: log })
  const reader: ClusterReader = new ClusterReader({
    cluster: 'bench',
    publicKey: store.publicKey,
    origin: {
      readManifest: async () => {
        store.reads++
        return store.manifest
      },
      readShard: async (sha256) => {
        store.reads++
        return store.shards.get(sha256)?.slice()
      },
    },
    times: { refreshMs: 500, blockMs: 5000, staleMs: 3_600_000, expireMs: 7_200_000 },
    memory: new ShardMemory(),
    after: host.after,
    now: host.now,
    onError: (message) => {
      throw new Error(message)
    },
  })
  const blocks = parseCorefile(COREFILE, 'Corefile', {
    readText: () => undefined,
    glob: () => [],
    resolvePath: (_, path) => path,
    environment: () => undefined,
  })
  const resolver = createResolver(blocks, host)
  const client = { address: '127.0.0.1', port: 0, transport: 'https' as const }
  const asking = new ResolverClient(resolver, client)
  return {
    reader,
    ask: async (message) => (await asking.answer(message)) ?? EMPTY,
  }
}

/** Octets outside and inside the heap that all shards take, loaded one by one. */
async function heldMib(store: Store): Promise<number> {
  const beforeBytes = heapBytes()
  const { reader } = open(store)
  const count = (await reader.load())?.shards.length ?? 0
  for (let index = 0; index < count; index++) await reader.load(index)
  const loaded = reader.current()?.shards.filter((shard) => shard !== undefined).length
  if (loaded !== count) throw new Error(`${loaded} of ${count} shards fit`)
  const heap = Math.max(0, heapBytes() - beforeBytes)
  return (heap + reader.heldBytes()) / MIB
}
