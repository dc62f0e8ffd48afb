/**
 * How long it takes to build a snapshot, and to follow one change.
 * @module
 */
import { openShard } from '../src/snapshot/read/open-shard.ts'
import { FollowedCluster } from './followed-cluster.ts'
import { median, type Row, row } from './row.ts'

const SIZES = [10_000, 100_000, 1_000_000]
const LARGEST = 1_000_000
const ROUNDS = 3
const CHANGES = 300

/** Measures. */
export function benchBuild(): Row[] {
  return SIZES.flatMap((size) => {
    const isLargest = size === LARGEST
    const times: number[] = []
    let cluster = new FollowedCluster(size)
    for (let round = 0; round < ROUNDS; round++) {
      if (round > 0) cluster = new FollowedCluster(size)
      const startMs = performance.now()
      cluster.build()
      times.push(performance.now() - startMs)
    }
    const { records } = cluster.build()
    const name = `${records.toLocaleString('en-US')} records`
    const change = measureChanges(cluster)
    return [
      row('build', `whole, ${name}`, 'ms', median(times), isLargest ? { atMost: 5000 } : undefined),
      row('build', `one Endpoint, ${name}`, 'ms', change, isLargest ? { atMost: 2 } : undefined),
    ]
  })
}

/** From an object to shards that can be answered from. */
function measureChanges(cluster: FollowedCluster): number {
  let before = cluster.build()
  const times = Array.from({ length: CHANGES }, () => {
    cluster.dropEndpoint(cluster.nextService())
    const startMs = performance.now()
    const after = cluster.build()
    const known = new Set(before.shards)
    for (const shard of after.shards) if (!known.has(shard)) openShard(shard)
    before = after
    return performance.now() - startMs
  })
  return median(times)
}
