/**
 * What a snapshot takes in memory: its bytes, and the objects beside them.
 * @module
 */
import type { Snapshot } from '../src/snapshot/read/snapshot.ts'
import { FollowedCluster } from './followed-cluster.ts'
import { openBuilt } from './generated-server.ts'
import { heapBytes } from './heap.ts'
import { type Row, row } from './row.ts'

const LARGEST = 1_000_000
const SIZES = [10_000, 100_000, LARGEST]

/** Measures. */
export function benchMemory(): Row[] {
  return SIZES.flatMap((size) => {
    const built = new FollowedCluster(size).build()
    const { records } = built
    const goal = size === LARGEST ? { atMost: 110 } : undefined
    const held: Snapshot[] = [openBuilt(built)]
    const withBytes = heapBytes()
    held.pop()
    const besideBytes = withBytes - heapBytes()
    const shardBytes = built.shards.reduce((sum, { length }) => sum + length, 0)
    const name = `${records.toLocaleString('en-US')} records, ${built.shards.length} shards`
    return [
      row('memory', `bytes a record, ${name}`, 'B', shardBytes / records),
      row('memory', `objects beside, a record, ${name}`, 'B', besideBytes / records),
      row('memory', `all in, a record, ${name}`, 'B', (shardBytes + besideBytes) / records, goal),
    ]
  })
}
