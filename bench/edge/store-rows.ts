/**
 * Rows that a cluster's object reads and writes, and the requests of a first publication.
 * @module
 */
import { FollowedCluster } from '../followed-cluster.ts'
import { benchGatewayOf, publisherTo } from '../gateway-servers.ts'
import { type Goal, type Row, row } from '../row.ts'
import type { RowsTaken } from './cost.ts'
import { setEdge, startEdge } from './edge-gateway.ts'

/** The size of the goals. */
const LARGE = 1_000_000
const SIZES = [2000, 100_000, LARGE]
/** Beyond the generations that are kept. */
const ROUNDS = 30
const NONE: RowsTaken = { read: 0, written: 0 }
const CHANGE_ROWS_MAX = 50
const CONFIRMATION_ROWS_MAX = 5

/** What was measured, and the rows of the last size. */
type StoreMeasure = {
  readonly rows: Row[]
  readonly change: RowsTaken
  readonly confirmation: RowsTaken
}

/** Measures clusters of several sizes: the most rows of some changes and confirmations. */
export async function storeRows(): Promise<StoreMeasure> {
  const rows: Row[] = []
  let last: Omit<StoreMeasure, 'rows'> = { change: NONE, confirmation: NONE }
  for (const size of SIZES) {
    const measured = await measureStore(size)
    rows.push(...measured.rows)
    last = measured
  }
  return { ...last, rows }
}

async function measureStore(size: number): Promise<StoreMeasure> {
  const cluster = new FollowedCluster(size)
  const { keys, variables } = await benchGatewayOf()
  const gateway = await startEdge({ variables })
  let requests = 0
  const publisher = await publisherTo(gateway.url, keys, {
    fetch: (to, init) => {
      requests++
      return fetch(to, init)
    },
  })
  let built = cluster.build()
  let confirmedMs = Date.now()
  const publish = async (): Promise<RowsTaken> => {
    await setEdge(gateway)
    await publisher.publish(built, { sources: {}, confirmedMs: confirmedMs++ })
    const { rowsRead: read, rowsWritten: written } = await setEdge(gateway)
    return { read, written }
  }
  const startMs = performance.now()
  await publish()
  const seconds = (performance.now() - startMs) / 1000
  const first = requests
  const changes: RowsTaken[] = []
  const confirmations: RowsTaken[] = []
  for (let i = 0; i < ROUNDS; i++) {
    cluster.dropEndpoint(cluster.nextService())
    built = cluster.build()
    changes.push(await publish())
    confirmations.push(await publish())
  }
  await gateway.stop()
  const records = `${size.toLocaleString('en-US')} records`
  const goal = (atMost: number): Goal | undefined => (size < LARGE ? undefined : { atMost })
  const [change, confirmation] = [mostOf(changes), mostOf(confirmations)]
  const rows = [
    row('edge', `first publication, ${records}`, 'requests', first),
    row('edge', 'the same, time', 's', seconds),
    row(
      'edge',
      `rows read and written by a change, ${records}`,
      '',
      sumOf(change),
      goal(CHANGE_ROWS_MAX),
    ),
    row('edge', 'of these written', '', change.written),
    row(
      'edge',
      `rows read and written by a confirmation, ${records}`,
      '',
      sumOf(confirmation),
      goal(CONFIRMATION_ROWS_MAX),
    ),
    row('edge', 'of these written', '', confirmation.written),
  ]
  return { rows, change, confirmation }
}

function sumOf({ read, written }: RowsTaken): number {
  return read + written
}

function mostOf(all: readonly RowsTaken[]): RowsTaken {
  return all.reduce((most, one) => (sumOf(one) > sumOf(most) ? one : most), NONE)
}
