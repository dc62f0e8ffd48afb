/**
 * The gateway at the edge, its objects at a distance: how soon a change is answered, what a cold
 * isolate takes, what a query waits for after quiet and while an object hangs, and calls.
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeBase64url } from '../src/dns/bytes/base64url.ts'
import { isRecord } from '../src/dns/bytes/unknown.ts'
import { nameOf } from '../src/dns/names/name.ts'
import { TYPE } from '../src/dns/names/rr-type.ts'
import { writeQuery } from '../src/dns/wire/write-query.ts'
import { type LocalGateway, startGateway } from '../test/workerd.ts'
import { FollowedCluster } from './followed-cluster.ts'
import { ADMIN, benchGatewayOf, CLUSTER, publishTo, tokenFrom } from './gateway-servers.ts'
import { propagationMs } from './propagation.ts'
import { median, type Row, row } from './row.ts'

const ENTRY = join(import.meta.dirname, 'servers/edge-worker.ts')
const IS_QUICK = process.env.BENCH_QUICK === '1'
const RECORDS = IS_QUICK ? 2000 : 100_000
const CHANGES = IS_QUICK ? 50 : 300
const COLD_ROUNDS = IS_QUICK ? 3 : 9
const QUIET_ROUNDS = IS_QUICK ? 2 : 5
/** Longer than a watch lasts. */
const QUIET_MS = 28_000
const COUNTED_MS = IS_QUICK ? 10_000 : 30_000
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
  const storage = mkdtempSync(join(tmpdir(), 'kubedoh-bench-'))
  try {
    const cluster = new FollowedCluster(RECORDS)
    const rows = await changeRows(cluster)
    const edge = await publish(cluster, storage)
    return [
      ...rows,
      ...(await coldRows(edge)),
      ...(await warmRows(edge)),
      ...(await tokenRows(edge)),
    ]
  } finally {
    rmSync(storage, { recursive: true, force: true })
  }
}

/** Sets how the objects respond; returns what was counted before. */
async function set(
  { url }: LocalGateway,
  state: { readonly delayMs?: number; readonly mode?: string } = {},
): Promise<{ readonly calls: number; readonly tokenBytes: number }> {
  const search = new URLSearchParams(
    Object.entries(state).map(([name, value]) => [name, String(value)]),
  )
  const counts: unknown = await (await fetch(`${url}/bench?${search}`)).json()
  const { calls, tokenBytes } = isRecord(counts) ? counts : {}
  return { calls: Number(calls), tokenBytes: Number(tokenBytes) }
}

async function changeRows(cluster: FollowedCluster): Promise<Row[]> {
  const rows: Row[] = []
  for (const [delayMs, p50Max] of DISTANCES) {
    const times = await propagationMs(cluster, {
      changes: CHANGES,
      start: async (variables) => {
        const gateway = await startGateway({ port: 0, variables, entry: ENTRY })
        await set(gateway, { delayMs })
        return gateway
      },
    })
    const metric = `change → answered, objects ${delayMs} ms away, ${RECORDS} records`
    rows.push(
      row('edge', `${metric}, p50`, 'ms', at(times, 0.5), { atMost: p50Max }),
      row('edge', `${metric}, p99`, 'ms', at(times, 0.99), { atMost: 1000 }),
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
  const gateway = await startGateway({ port: 0, variables, storage, entry: ENTRY })
  await publishTo(gateway.url, keys, cluster.build())
  const token = await tokenFrom(gateway.url, ['*'])
  await gateway.stop()
  return { variables, storage, token, names }
}

async function coldRows(edge: Edge): Promise<Row[]> {
  const rounds: number[] = []
  for (let round = 0; round < COLD_ROUNDS; round++) {
    const gateway = await startGateway({ port: 0, ...edge, entry: ENTRY })
    await set(gateway, { delayMs: FAR_MS })
    rounds.push(await ask(gateway, edge, round * 109))
    await gateway.stop()
  }
  const metric = `cold isolate, first answer, objects ${FAR_MS} ms away`
  return [row('edge', metric, 'ms', median(rounds), { atMost: 550 })]
}

async function warmRows(edge: Edge): Promise<Row[]> {
  const gateway = await startGateway({ port: 0, ...edge, entry: ENTRY })
  await set(gateway, { delayMs: FAR_MS })
  await ask(gateway, edge, 0)
  await load(gateway, edge, 2000)
  await set(gateway)
  const busy = await load(gateway, edge, COUNTED_MS)
  const { calls: busyCalls } = await set(gateway)
  await sleep(QUIET_MS)
  const quiet = [await ask(gateway, edge, 0)]
  await sleep(QUIET_MS)
  await set(gateway)
  await sleep(QUIET_MS)
  const { calls: quietCalls } = await set(gateway)
  for (let round = 0; round < QUIET_ROUNDS; round++) {
    quiet.push(await ask(gateway, edge, 0))
    await sleep(QUIET_MS)
  }
  await set(gateway, { mode: 'hang' })
  const hanging = await load(gateway, edge, Math.min(COUNTED_MS, 20_000))
  await gateway.stop()
  const busyP99 = at(busy, 0.99)
  const goal = { atMost: 1.5 * busyP99 }
  return [
    row('edge', 'busy isolate, p99', 'ms', busyP99),
    row(
      'edge',
      'after 28 to 56 s of quiet, objects 250 ms away, longest',
      'ms',
      at(quiet, 1),
      goal,
    ),
    row('edge', 'while an object hangs, p99', 'ms', at(hanging, 0.99), goal),
    row(
      'edge',
      'calls to objects, busy isolate without changes',
      '/s',
      (1000 * busyCalls) / COUNTED_MS,
      {
        atMost: 0.1,
      },
    ),
    row('edge', 'calls to objects, quiet isolate', '/s', (1000 * quietCalls) / QUIET_MS, {
      atMost: 0,
    }),
  ]
}

/** What an isolate reads of a list of tokens that does not change, after its first read. */
async function tokenRows(edge: Edge): Promise<Row[]> {
  const gateway = await startGateway({ port: 0, ...edge, entry: ENTRY })
  for (let i = 0; i < TOKENS; i++) {
    const response = await fetch(`${gateway.url}/v1/tokens`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN}` },
      body: JSON.stringify({ name: `token-${i}`, namespaces: ['shop'] }),
    })
    await response.arrayBuffer()
  }
  await ask(gateway, edge, 0)
  await load(gateway, edge, 3000)
  await set(gateway)
  await load(gateway, edge, COUNTED_MS)
  const { tokenBytes } = await set(gateway)
  await gateway.stop()
  const metric = `${TOKENS} tokens, read by a busy isolate`
  return [row('edge', metric, 'B/s', (1000 * tokenBytes) / COUNTED_MS, { atMost: 1024 })]
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

async function ask({ url }: LocalGateway, { token, names }: Edge, index: number): Promise<number> {
  const name = names[index % names.length] ?? CLUSTER
  const dns = encodeBase64url(writeQuery({ name: nameOf(name), type: TYPE.A }))
  const startMs = performance.now()
  const response = await fetch(`${url}/dns-query?dns=${dns}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const reply = new Uint8Array(await response.arrayBuffer())
  if ((reply[7] ?? 0) === 0) throw new Error(`No answer for ${name}: status ${response.status}`)
  return performance.now() - startMs
}

function at(times: readonly number[], part: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.ceil(part * sorted.length) - 1] ?? Number.NaN
}
