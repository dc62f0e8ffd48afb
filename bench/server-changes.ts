/**
 * How soon `kubedoh serve` and CoreDNS answer with a change of the cluster, and how soon they
 * answer at all, while nothing and while 200 endpoints a second change.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Latency, pace, percentiles } from './dns-load.ts'
import { msUntilAnswered } from './dns-probe.ts'
import { median, type Row, ratioRow, row } from './row.ts'
import type { BenchCluster, NamedAddress } from './server-cluster.ts'
import type { DnsProcess } from './server-processes.ts'

const IS_QUICK = process.env.BENCH_QUICK === '1'
const ROUNDS = IS_QUICK ? 1 : 3
const SECONDS = IS_QUICK ? 2 : 4
const QUERIES_PER_SECOND = 20_000
const CHANGES_PER_SECOND = 200
/** Changes of a quiet cluster. */
const CHANGES = IS_QUICK ? 40 : 150
/** One of so many changes is asked for in a storm. */
const PROBED = 10
/** Time that a change may take: after it, the next change of the same Service replaces it. */
const REPLACED_MS = 1000
const MEDIAN_MS = 2

/** The servers that are compared. */
export type Peers = { readonly coredns: DnsProcess; readonly ours: DnsProcess }
/** Percentiles of each round. */
type Rounds = Record<keyof Peers, Latency[]>

/** Measures. */
export async function changeRows(cluster: BenchCluster, peers: Peers): Promise<Row[]> {
  const queries = cluster.writeQueries('mix')
  const load = { queries, seconds: SECONDS }
  const [idle, busy, quiet, storm] = [rounds(), rounds(), rounds(), rounds()]
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, other] of [
      ['coredns', 'ours'],
      ['ours', 'coredns'],
    ] as const) {
      const server = peers[name]
      // The core is for one server at a time.
      process.kill(peers[other].pid, 'SIGSTOP')
      try {
        quiet[name].push(await followOneByOne(cluster, server))
        idle[name].push(await pace(server, load, QUERIES_PER_SECOND))
        const ended = new AbortController()
        const following = followStorm(cluster, server, ended.signal)
        busy[name].push(await pace(server, load, QUERIES_PER_SECOND))
        ended.abort()
        storm[name].push(await following)
      } finally {
        process.kill(peers[other].pid, 'SIGCONT')
      }
      await sleep(1000)
    }
  }
  const at20k = 'answer at 20,000 queries/s'
  return [
    ...rowsOf(at20k, idle, ['p50', 'p99', 'p999']),
    ...rowsOf(`${at20k} and 200 changes/s`, busy, ['p50', 'p99', 'p999']),
    ...rowsOf('change → answered', quiet, ['p99']),
    ...rowsOf('change → answered at 200 changes/s', storm, ['p99']),
    medianRow('change → answered', quiet),
    medianRow('change → answered at 200 changes/s', storm),
  ]
}

function rounds(): Rounds {
  return { coredns: [], ours: [] }
}

async function followOneByOne(cluster: BenchCluster, { port }: DnsProcess): Promise<Latency> {
  const times = []
  for (let i = 0; i < CHANGES; i++) {
    times.push(await msUntilAnswered(port, await cluster.change()))
    await sleep(5)
  }
  return percentiles(times)
}

async function followStorm(
  cluster: BenchCluster,
  { port }: DnsProcess,
  signal: AbortSignal,
): Promise<Latency> {
  const times: Promise<number>[] = []
  const changes: Promise<unknown>[] = []
  const startMs = performance.now()
  for (let i = 0; !signal.aborted; i++) {
    const changed = cluster.change()
    changes.push(changed)
    if (i % PROBED === 0) {
      const probe = (change: NamedAddress): Promise<number> =>
        msUntilAnswered(port, change, REPLACED_MS).catch(() => REPLACED_MS)
      times.push(changed.then(probe))
    }
    await sleep(Math.max(0, startMs + (1000 * i) / CHANGES_PER_SECOND - performance.now()))
  }
  await Promise.all(changes)
  const perSecond = (1000 * changes.length) / (performance.now() - startMs)
  process.stderr.write(`${perSecond.toFixed(0)} changes a second\n`)
  return percentiles(await Promise.all(times))
}

function rowsOf(what: string, rounds: Rounds, parts: readonly (keyof Latency)[]): Row[] {
  return parts.map((part) => {
    const base = { bench: 'server', metric: `${what}, ${part}`, unit: 'ms' }
    const { coredns, ours } = middle(rounds, part)
    return ratioRow(base, ours, { name: 'CoreDNS', value: coredns }, { atLeast: 1 })
  })
}

/** Returns the row of a median, whose goal is a time and no ratio. */
function medianRow(what: string, rounds: Rounds): Row {
  const { coredns, ours } = middle(rounds, 'p50')
  const base = { bench: 'server', metric: `${what}, p50`, unit: 'ms' }
  const beside = ratioRow(base, ours, { name: 'CoreDNS', value: coredns })
  return { ...beside, ...row('server', base.metric, 'ms', ours, { atMost: MEDIAN_MS }) }
}

function middle({ coredns, ours }: Rounds, part: keyof Latency): Record<keyof Peers, number> {
  return {
    coredns: median(coredns.map((one) => one[part])),
    ours: median(ours.map((one) => one[part])),
  }
}
