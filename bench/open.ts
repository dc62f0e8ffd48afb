/**
 * How long it takes from a shard's bytes to the first answer from it: hash, checks, look-up.
 * @module
 */
import { asWordBytes } from '../src/dns/bytes/bytes.ts'
import { nameOf } from '../src/dns/names/name.ts'
import { TYPE } from '../src/dns/names/rr-type.ts'
import { parseQuery } from '../src/dns/wire/query.ts'
import { ReplyWriter } from '../src/dns/wire/reply-writer.ts'
import { writeQuery } from '../src/dns/wire/write-query.ts'
import type { Zone } from '../src/resolver/plugins/kubernetes/zone.ts'
import { ZoneAnswer } from '../src/resolver/plugins/kubernetes/zone-answer.ts'
import { sha256Hex } from '../src/snapshot/format/signature.ts'
import { openShard } from '../src/snapshot/read/open-shard.ts'
import { Snapshot } from '../src/snapshot/read/snapshot.ts'
import { buildShards } from '../src/snapshot/write/build-shards.ts'
import { clusterRecords } from '../test/cluster/cluster-names.ts'
import { apiObjects, generateServices } from './cluster-objects.ts'
import { clusterOf, kubeadmNaming } from './generated-server.ts'
import { median, type Row, row } from './row.ts'

const SHARD_BYTES = 128 * 1024
const ROUNDS = 300

/** Measures. */
export async function benchOpen(): Promise<Row[]> {
  const shard = shardOf(SHARD_BYTES)
  const zone: Zone = {
    origin: asWordBytes(nameOf('cluster.local')),
    isReverse: false,
    isMulticluster: false,
    hasWildcards: false,
    hasCache: false,
    hadNsQuery: false,
  }
  const query = parseQuery(writeQuery({ name: nameOf('no.such.svc.cluster.local'), type: TYPE.A }))
  if (query.kind !== 'query') throw new TypeError('Nothing to ask')
  const info = { generation: 1, timeMs: 0, ttlSeconds: 5, origins: [] }
  const answer = new ZoneAnswer(new ReplyWriter())
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const startMs = performance.now()
    await sha256Hex(shard)
    const snapshot = new Snapshot(info, [openShard(shard)])
    answer.reply.begin(query, { bytesMax: 512 })
    answer.answer(query, zone, snapshot, zone.origin)
    times.push(performance.now() - startMs)
  }
  const size = `${Math.round(shard.length / 1024)} KiB`
  return [row('open', `hash, checks and first answer, ${size}`, 'ms', median(times), { atMost: 1 })]
}

/** The largest shard of at most so many bytes that a generated cluster makes. */
function shardOf(bytes: number): Uint8Array {
  for (let services = 200; ; services -= 5) {
    const cluster = clusterOf(apiObjects(generateServices(services)))
    const [shard] = buildShards(clusterRecords(cluster, kubeadmNaming()).entries)
    if (shard !== undefined && shard.length <= bytes) return shard
  }
}
