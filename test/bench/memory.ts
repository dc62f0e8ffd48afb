/**
 * What a snapshot takes in memory: its octets, and the objects beside them.
 * @module
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { FollowedCluster } from './followed-cluster.ts'
import { openBuilt } from './generated-server.ts'
import { type Row, row } from './row.ts'

/** Measures. */
export function benchMemory(): Row[] {
  return [10_000, 100_000, 1_000_000].flatMap((size) => {
    const built = new FollowedCluster(size).build()
    const beforeBytes = heapBytes()
    const snapshot = openBuilt(built)
    const besideBytes = Math.max(0, heapBytes() - beforeBytes)
    const { records } = snapshot.info
    const shardBytes = built.shards.reduce((sum, { length }) => sum + length, 0)
    const name = `${records.toLocaleString('en-US')} records, ${snapshot.shards.length} shards`
    return [
      row('memory', `octets a record, ${name}`, 'B', shardBytes / records),
      row('memory', `objects beside, a record, ${name}`, 'B', besideBytes / records),
      row('memory', `all in, a record, ${name}`, 'B', (shardBytes + besideBytes) / records, {
        atMost: 110,
      }),
    ]
  })
}

/** What objects are in use, after all others are gone. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new TypeError('Garbage cannot be collected')
  collect()
  collect()
  return process.memoryUsage().heapUsed
}
