/**
 * Queries that `kubedoh serve` and CoreDNS lose or answer wrong while their Corefile is reloaded,
 * the cluster changes, and upstreams fail. A client compares every response.
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { RunningLoad, sumOf } from '../test/faults/checked-load.ts'
import type { CheckedQuery, Tally } from '../test/faults/checking-client.ts'
import { BUNDLES } from './places.ts'
import { type Row, row } from './row.ts'
import type { BenchCluster } from './server-cluster.ts'
import { type DnsProcess, startUnbound } from './server-processes.ts'

const IS_QUICK = process.env.BENCH_QUICK === '1'
const PER_SECOND = IS_QUICK ? 2000 : 4000
const TCP_PER_SECOND = 50
const RELOADS = IS_QUICK ? 4 : 10
const RELOAD_MS = 500
const STORM_MS = IS_QUICK ? 2000 : 5000
const CHANGE_MS = 5
const FAILURE_MS = IS_QUICK ? 1000 : 3000
const NAMES = 500

type Name = 'ours' | 'CoreDNS'
type Disturbance = 'reload' | 'snapshot swap' | 'upstream failure'

/** What the rows are measured on. */
export type Disturbed = {
  readonly cluster: BenchCluster
  /** Starts a server with kubeadm's Corefile and these upstreams; resolves when it answers. */
  readonly start: (name: Name, upstreams: readonly number[]) => Promise<DnsProcess>
}

/** Measures. */
export async function disturbedRows({ cluster, start }: Disturbed): Promise<Row[]> {
  const tallies = new Map<Name, Tally>()
  for (const name of ['CoreDNS', 'ours'] as const) {
    const upstreams = [await startUnbound(BUNDLES), await startUnbound(BUNDLES)] as const
    const server = await start(
      name,
      upstreams.map(({ port }) => port),
    )
    try {
      tallies.set(name, await disturb(server, upstreams, cluster))
    } finally {
      await Promise.all([server, ...upstreams].map((one) => one.stop()))
    }
  }
  return (['reload', 'snapshot swap', 'upstream failure'] as const).map((phase) =>
    rowOf(phase, tallies),
  )
}

async function disturb(
  server: DnsProcess,
  upstreams: readonly [DnsProcess, DnsProcess],
  cluster: BenchCluster,
): Promise<Tally> {
  const load = await RunningLoad.start({
    port: server.port,
    perSecond: PER_SECOND,
    tcpPerSecond: TCP_PER_SECOND,
    queries: queriesOf(cluster),
  })
  load.enter('start')
  await sleep(1000)
  load.enter('reload')
  const { corefile = '' } = server
  const text = readFileSync(corefile, 'utf8')
  for (let i = 0; i < RELOADS; i++) {
    writeFileSync(corefile, `${text}# ${i}\n`)
    process.kill(server.pid, 'SIGUSR1')
    await sleep(RELOAD_MS)
  }
  load.enter('snapshot swap')
  const endMs = performance.now() + STORM_MS
  while (performance.now() < endMs) {
    await cluster.change()
    await sleep(CHANGE_MS)
  }
  load.enter('upstream failure')
  process.kill(upstreams[0].pid, 'SIGSTOP')
  await sleep(FAILURE_MS)
  process.kill(upstreams[0].pid, 'SIGCONT')
  await sleep(FAILURE_MS)
  process.kill(upstreams[1].pid, 'SIGKILL')
  await sleep(FAILURE_MS)
  return load.end()
}

function queriesOf(cluster: BenchCluster): CheckedQuery[] {
  const known = [...cluster.clusterIps()].slice(0, NAMES)
  const cases = known.flatMap(([name, ip]): CheckedQuery[] => [
    { group: 'cluster', name, expected: [ip] },
    { group: 'cluster', name: `api-#.${name}`, expected: ['NXDOMAIN'] },
  ])
  // One of ten queries is for an external name, a new one each time.
  const external: CheckedQuery = {
    group: 'external',
    name: 'n#.example.org',
    expected: ['192.0.2.1'],
  }
  return cases.flatMap((one, i) => (i % 9 === 0 ? [one, external] : [one]))
}

function rowOf(phase: Disturbance, tallies: ReadonlyMap<Name, Tally>): Row {
  const [ours, coredns] = (['ours', 'CoreDNS'] as const).map((name) => {
    const { right, failed, lost, wrong, examples } = sumOf(
      tallies.get(name) ?? {},
      (one) => one === phase,
    )
    for (const text of examples) process.stderr.write(`${phase}, ${name}: ${text}\n`)
    return { bad: failed + lost + wrong, count: right + failed + lost + wrong }
  })
  const lost = (one = ours): string => `${one?.bad} of ${one?.count.toLocaleString('en-US')}`
  const metric = `lost or wrong, ${phase} (${lost()}; CoreDNS: ${lost(coredns)})`
  // No query at all proves nothing.
  const bad = ours?.count === 0 ? Number.NaN : (ours?.bad ?? Number.NaN)
  return row('server', metric, 'queries', bad, { atMost: 0 })
}
