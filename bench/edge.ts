/**
 * The gateway at the edge, its objects at a distance: how soon a change is answered, what a cold
 * isolate takes, what a query waits for after quiet and while an object hangs, calls, rows, costs.
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LocalGateway } from '../test/workerd.ts'
import { costRows } from './edge/cost.ts'
import { askEdge, partOf, setEdge, startEdge } from './edge/edge-gateway.ts'
import { measureFollowers } from './edge/followers.ts'
import { clusterRows } from './edge/many-clusters.ts'
import { storeRows } from './edge/store-rows.ts'
import { FollowedCluster } from './followed-cluster.ts'
import { prepareLoad } from './gateway-load.ts'
import { benchGatewayOf, CLUSTER, publishTo, tokenFrom } from './gateway-servers.ts'
import { propagationMs } from './propagation.ts'
import { median, type Row, row } from './row.ts'

const IS_QUICK = process.env.BENCH_QUICK === '1'
const RECORDS = IS_QUICK ? 2000 : 100_000
const CHANGES = IS_QUICK ? 50 : 300
const COLD_ROUNDS = IS_QUICK ? 3 : 9
const QUIET_ROUNDS = 2
/** Longer than a watch lasts. */
const QUIET_MS = 28_000
/** Two watches long. */
const COUNTED_MS = 50_000
const HANGING_MS = IS_QUICK ? 10_000 : 20_000
const QUERIES_PER_SECOND = 50
const TOKENS = IS_QUICK ? 50 : 5000
const DISTANCES: readonly (readonly [delayMs: number, p50Max: number])[] = [
  [0, 150],
  [100, 300],
  [250, 450],
]
const FAR_MS = 250

/** A gateway at the edge, with a cluster in it. */
type Edge = {
  readonly variables: Readonly<Record<string, string>>
  readonly storage: string
  readonly token: string
  readonly names: readonly string[]
}

/** Measures. */
export async function benchEdge(): Promise<Row[]> {
  const missing = prepareLoad()
  if (missing !== undefined) throw new Error(missing)
  const storage = mkdtempSync(join(tmpdir(), 'kubedoh-bench-'))
  try {
    const cluster = new FollowedCluster(RECORDS)
    const changes = await timed('changes by distance', () => changeRows(cluster))
    const edge = await publish(cluster, storage)
    const cold = await timed('cold isolates', () => coldRows(edge))
    const warm = await timed('quiet, and objects that hang', () => measureWarm(edge))
    const tokens = await timed('tokens', () => tokenRows(edge))
    const followers = await timed('followers', measureFollowers)
    const clusters = await timed('many clusters', clusterRows)
    const store = await timed('rows of the store', storeRows)
    const costs = costRows({
      ...warm,
      // More than there are: those of a quiet cluster count, too.
      changingCallsPerSecond: warm.callsPerSecond + followers.callsPerSecond,
      change: store.change,
      confirmation: store.confirmation,
    })
    const parts = [changes, cold, warm.rows, tokens, followers.rows, clusters, store.rows, costs]
    return parts.flat()
  } finally {
    rmSync(storage, { recursive: true, force: true })
  }
}

/** Reports progress. */
async function timed<T>(what: string, measure: () => Promise<T>): Promise<T> {
  const startMs = performance.now()
  const result = await measure()
  const seconds = (performance.now() - startMs) / 1000
  process.stderr.write(`  ${what}: ${seconds.toFixed(0)} s\n`)
  return result
}

async function changeRows(cluster: FollowedCluster): Promise<Row[]> {
  const rows: Row[] = []
  for (const [delayMs, p50Max] of DISTANCES) {
    const times = await propagationMs(cluster, {
      changes: CHANGES,
      start: async (variables) => {
        const gateway = await startEdge({ variables })
        await setEdge(gateway, { delayMs })
        return gateway
      },
    })
    const metric = `change → answered, objects ${delayMs} ms away, ${RECORDS} records`
    rows.push(
      row('edge', `${metric}, p50`, 'ms', partOf(times, 0.5), { atMost: p50Max }),
      row('edge', `${metric}, p99`, 'ms', partOf(times, 0.99), { atMost: 1000 }),
    )
  }
  return rows
}

async function publish(cluster: FollowedCluster, storage: string): Promise<Edge> {
  const names = cluster.services
    .filter(({ isHeadless }) => !isHeadless)
    .map(({ name, namespace }) => `${name}.${namespace}.svc.cluster.local`)
  const { keys, variables: bench } = await benchGatewayOf()
  const variables = { ...bench, STALE_SECONDS: '60' }
  const gateway = await startEdge({ variables, storage })
  await publishTo(gateway.url, keys, cluster.build())
  const token = await tokenFrom(gateway.url, ['*'])
  await gateway.stop()
  return { variables, storage, token, names }
}

async function coldRows(edge: Edge): Promise<Row[]> {
  const rounds: number[] = []
  for (let round = 0; round < COLD_ROUNDS; round++) {
    const gateway = await startEdge(edge)
    await setEdge(gateway, { delayMs: FAR_MS })
    rounds.push(await ask(gateway, edge, round * 109))
    await gateway.stop()
  }
  const metric = `cold isolate, first answer, objects ${FAR_MS} ms away`
  return [row('edge', metric, 'ms', median(rounds), { atMost: 550 })]
}

async function measureWarm(
  edge: Edge,
): Promise<{ readonly rows: Row[]; readonly callsPerSecond: number; readonly callMs: number }> {
  const gateway = await startEdge(edge)
  await setEdge(gateway, { delayMs: FAR_MS })
  await ask(gateway, edge, 0)
  await load(gateway, edge, 2000)
  await setEdge(gateway)
  const busy = await load(gateway, edge, COUNTED_MS)
  const { calls, callsMs } = await setEdge(gateway)
  await sleep(QUIET_MS)
  const quiet = [await ask(gateway, edge, 0)]
  await sleep(QUIET_MS)
  await setEdge(gateway)
  await sleep(QUIET_MS)
  const { calls: quietCalls } = await setEdge(gateway)
  for (let round = 0; round < QUIET_ROUNDS; round++) {
    quiet.push(await ask(gateway, edge, 0))
    await sleep(QUIET_MS)
  }
  await setEdge(gateway, { mode: 'hang' })
  const hanging = await load(gateway, edge, HANGING_MS)
  await gateway.stop()
  const busyP99 = partOf(busy, 0.99)
  const goal = { atMost: 1.5 * busyP99 }
  const callsPerSecond = (1000 * calls) / COUNTED_MS
  const name = 'after 28 to 56 s of quiet, objects 250 ms away, longest'
  const rows = [
    row('edge', 'busy isolate, p99', 'ms', busyP99),
    row('edge', name, 'ms', partOf(quiet, 1), goal),
    row('edge', 'while an object hangs, p99', 'ms', partOf(hanging, 0.99), goal),
    row('edge', 'calls to objects, busy isolate without changes', '/s', callsPerSecond, {
      atMost: 0.1,
    }),
    row('edge', 'calls to objects, quiet isolate', '/s', (1000 * quietCalls) / QUIET_MS, {
      atMost: 0,
    }),
  ]
  return { rows, callsPerSecond, callMs: callsMs / calls }
}

/** What an isolate reads of a list of tokens that does not change, after its first read. */
async function tokenRows(edge: Edge): Promise<Row[]> {
  const gateway = await startEdge(edge)
  await fetch(`${gateway.url}/bench/tokens?count=${TOKENS}`)
  await ask(gateway, edge, 0)
  await load(gateway, edge, 3000)
  await setEdge(gateway)
  await load(gateway, edge, HANGING_MS)
  const { tokenBytes } = await setEdge(gateway)
  await gateway.stop()
  const metric = `${TOKENS} tokens, read by a busy isolate`
  return [row('edge', metric, 'B/s', (1000 * tokenBytes) / HANGING_MS, { atMost: 1024 })]
}

/** Asks at an even rate for names that are in memory; returns how long each query took. */
async function load(gateway: LocalGateway, edge: Edge, durationMs: number): Promise<number[]> {
  const asked: Promise<number>[] = []
  const startMs = performance.now()
  for (let i = 0; performance.now() - startMs < durationMs; i++) {
    asked.push(ask(gateway, edge, 0))
    await sleep(Math.max(0, startMs + (1000 * (i + 1)) / QUERIES_PER_SECOND - performance.now()))
  }
  return Promise.all(asked)
}

function ask(gateway: LocalGateway, { token, names }: Edge, index: number): Promise<number> {
  return askEdge(gateway, { token, name: names[index % names.length] ?? CLUSTER })
}
