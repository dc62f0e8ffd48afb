/**
 * `kubedoh serve` as a whole, beside CoreDNS on the same live cluster, unbound and a C echo: CPU
 * time per query, latency while the cluster changes, memory, and start.
 *
 * Of the two cores, the server under test has one; the load, the API server and this process have
 * the other. Servers take turns in each round. BENCH_QUICK=1 takes a fifth of the endpoints and
 * fewer rounds.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { errorText } from '../src/dns/bytes/unknown.ts'
import { type Binaries, prepareBinaries } from '../test/real-cluster/binaries.ts'
import { type LoadResult, saturate } from './dns-load.ts'
import { msUntilAnswered } from './dns-probe.ts'
import { BUNDLES } from './places.ts'
import { median, type Row, ratioRow, row } from './row.ts'
import { changeRows, type Peers } from './server-changes.ts'
import { BenchCluster, CLUSTER_SIZE, localData, type NamedAddress } from './server-cluster.ts'
import { costRows, type LoadedServer } from './server-costs.ts'
import { disturbedRows } from './server-disturbed.ts'
import { httpsRows } from './server-https.ts'
import {
  compileEcho,
  type DnsProcess,
  formatCorefile,
  pinToLoadCore,
  prepareProgram,
  residentMb,
  startCorefile,
  startEcho,
  startUnbound,
  untilQuiet,
} from './server-processes.ts'

const IS_QUICK = process.env.BENCH_QUICK === '1'
const LARGE = IS_QUICK ? { plain: 1000, headless: 800 } : { plain: 20_000, headless: 15_992 }
const ROUNDS = IS_QUICK ? 2 : 5
const SECONDS = IS_QUICK ? 0.5 : 1
const STARTS = IS_QUICK ? 1 : 3
const WARM_UP_SECONDS = 1
/** Time until memory is read, in which servers return what load has left: ours looks every 5 s. */
const SETTLE_MS = 12_000
const DEMO: NamedAddress = { name: 'web.shop.svc.cluster.local', address: '10.96.12.34' }

/** Measures. */
export async function benchServer(): Promise<Row[]> {
  const binaries = prepareBinaries()
  if (typeof binaries === 'string') throw new Error(binaries)
  const missing = prepareProgram('dnsperf', 'dnsperf') ?? prepareProgram('taskset', 'util-linux')
  if (missing !== undefined) throw new Error(missing)
  pinToLoadCore()
  const cluster = await BenchCluster.start(binaries)
  const bench = new ServerBench(cluster, binaries)
  try {
    return await bench.rows()
  } finally {
    await bench.stop()
    await cluster.api.stop()
  }
}

/** How to start a server: the address that it must answer first, and the ports of its upstreams. */
type StartOptions = Parameters<typeof startCorefile>[2] & {
  readonly expected?: NamedAddress
  readonly upstreams?: readonly number[]
}

class ServerBench {
  private readonly cluster: BenchCluster
  private readonly binaries: Binaries
  private readonly running = new Set<DnsProcess>()
  private readonly measured: Row[] = []
  private upstream = 0

  constructor(cluster: BenchCluster, binaries: Binaries) {
    this.cluster = cluster
    this.binaries = binaries
  }

  async rows(): Promise<Row[]> {
    const { cluster } = this
    const missing = prepareProgram('unbound', 'unbound')
    const unbound =
      missing === undefined
        ? this.keep(await startUnbound(BUNDLES, localData(CLUSTER_SIZE)))
        : missing
    if (typeof unbound === 'string') process.stderr.write(`${unbound}\n`)
    else this.upstream = unbound.port
    await this.part('memory with the demo cluster', () => this.demoRows())
    say(`storing ${BenchCluster.endpoints(CLUSTER_SIZE)}`)
    await cluster.grow(CLUSTER_SIZE)
    await this.part('starts', () => this.startRows())
    say('starting servers')
    const kubeadm = await this.startPeers('kubeadm')
    const alone = await this.startPeers('alone')
    await this.part('load', () => this.costRows({ kubeadm, alone, unbound }))
    await this.part('memory', async () =>
      this.memoryRows(BenchCluster.endpoints(CLUSTER_SIZE), kubeadm, 1.2),
    )
    await this.stop(kubeadm.coredns, kubeadm.ours)
    await this.part('threads', () => this.threadRows())
    await this.part('HTTPS', () => this.httpsRows())
    await this.part('changes', () => changeRows(cluster, alone))
    await this.stop(alone.coredns, alone.ours)
    await this.part('disturbances', () => this.disturbedRows())
    await this.part('memory of a large cluster', () => this.largeRows())
    return this.measured
  }

  /** Measures a part; a failure costs its rows only. */
  private async part(name: string, measure: () => Promise<Row[]>): Promise<void> {
    say(name)
    try {
      this.measured.push(...(await measure()))
    } catch (error) {
      process.stderr.write(`not measured: ${name}: ${errorText(error)}\n`)
    }
  }

  /** Stops all servers that run. */
  async stop(...servers: readonly DnsProcess[]): Promise<void> {
    const stopped = servers.length > 0 ? servers : [...this.running]
    for (const server of stopped) this.running.delete(server)
    await Promise.all(stopped.map((server) => server.stop()))
  }

  private keep(server: DnsProcess): DnsProcess {
    this.running.add(server)
    return server
  }

  /** Starts a server and waits for its first right answer. */
  private async start(
    name: 'CoreDNS' | 'ours',
    kind: 'alone' | 'kubeadm',
    { expected = this.last(), upstreams = [this.upstream], ...options }: StartOptions = {},
  ): Promise<DnsProcess & { readonly startMs: number }> {
    const kubeconfig = this.cluster.api.exporterConfig
    const corefile = await formatCorefile(kind, { kubeconfig, upstreams })
    const coredns = name === 'CoreDNS' ? { coredns: this.binaries.coredns } : {}
    const server = await startCorefile({ name, ...coredns }, corefile, options)
    this.keep(server)
    const startMs = await msUntilAnswered(server.port, expected)
    // Ours compacts its memory after the start.
    await untilQuiet(server.pid)
    return Object.assign(server, { startMs })
  }

  private last(): NamedAddress {
    const [name, address] = [...this.cluster.clusterIps()].at(-1) ?? ['', '']
    return { name, address }
  }

  private async demoRows(): Promise<Row[]> {
    const coredns = await this.start('CoreDNS', 'kubeadm', { expected: DEMO })
    const ours = await this.start('ours', 'kubeadm', { expected: DEMO })
    return this.loadedMemoryRows('demo cluster', { coredns, ours }, 1.4)
  }

  /** Compares memory with many times the endpoints. */
  private async largeRows(): Promise<Row[]> {
    await this.cluster.grow(LARGE)
    const peers = await this.startPeers('kubeadm')
    return this.loadedMemoryRows(BenchCluster.endpoints(LARGE), peers, 0.5)
  }

  private async loadedMemoryRows(what: string, peers: Peers, most: number): Promise<Row[]> {
    const servers = [peers.coredns, peers.ours]
    const queries = this.cluster.writeQueries('mix')
    for (const server of servers) await saturate(server, { queries, seconds: WARM_UP_SECONDS })
    await sleep(SETTLE_MS)
    const rows = this.memoryRows(what, peers, most)
    await this.stop(...servers)
    return rows
  }

  private memoryRows(what: string, { coredns, ours }: Peers, most: number): Row[] {
    const base = { bench: 'server', metric: `resident memory, ${what}`, unit: 'MB' }
    const peer = { name: 'CoreDNS', value: residentMb(coredns.pid) }
    return [ratioRow(base, residentMb(ours.pid), peer, { atLeast: 1 / most })]
  }

  private async startRows(): Promise<Row[]> {
    const times: Record<'CoreDNS' | 'ours', number[]> = { CoreDNS: [], ours: [] }
    for (let round = 0; round < STARTS; round++) {
      for (const name of ['CoreDNS', 'ours'] as const) {
        const server = await this.start(name, 'kubeadm')
        times[name].push(server.startMs)
        await this.stop(server)
      }
    }
    const metric = `start → first right answer, ${BenchCluster.endpoints(CLUSTER_SIZE)}`
    const peer = { name: 'CoreDNS', value: median(times.CoreDNS) }
    const base = { bench: 'server', metric, unit: 'ms' }
    return [ratioRow(base, median(times.ours), peer)]
  }

  private async startPeers(kind: 'alone' | 'kubeadm'): Promise<Peers> {
    return { coredns: await this.start('CoreDNS', kind), ours: await this.start('ours', kind) }
  }

  private async costRows({
    kubeadm,
    alone,
    unbound,
  }: {
    readonly kubeadm: Peers
    readonly alone: Peers
    readonly unbound: DnsProcess | string
  }): Promise<Row[]> {
    const echo = this.keep(await startEcho(compileEcho(BUNDLES)))
    const dgram = await this.start('ours', 'alone', { variables: { KUBEDOH_UDP_BATCHES: '0' } })
    const [a, mix] = (['A', 'mix'] as const).map((kind) => this.cluster.writeQueries(kind))
    const one = (
      server: DnsProcess,
      queries = '',
      protocol: 'udp' | 'tcp' = 'udp',
    ): LoadedServer => ({ server, queries, protocol, seconds: SECONDS })
    const measured = {
      echoA: one(echo, a),
      echoMix: one(echo, mix),
      ...(typeof unbound !== 'string' && {
        unboundA: one(unbound, a),
        unboundMix: one(unbound, mix),
      }),
      corednsA: one(alone.coredns, a),
      corednsMix: one(alone.coredns, mix),
      corednsTcp: one(alone.coredns, a, 'tcp'),
      kubeadmA: one(kubeadm.coredns, a),
      kubeadmMix: one(kubeadm.coredns, mix),
      oursA: one(alone.ours, a),
      oursMix: one(alone.ours, mix),
      oursTcp: one(alone.ours, a, 'tcp'),
      oursKubeadmA: one(kubeadm.ours, a),
      oursKubeadmMix: one(kubeadm.ours, mix),
      dgramA: one(dgram, a),
      dgramMix: one(dgram, mix),
    }
    const rows = await costRows(measured, ROUNDS)
    await this.stop(echo, dgram)
    return rows
  }

  private httpsRows(): Promise<Row[]> {
    const { cluster, upstream, binaries } = this
    const names = cluster.clusterIps().keys()
    const kubeconfig = cluster.api.exporterConfig
    return httpsRows({ coredns: binaries.coredns, kubeconfig, upstream, names })
  }

  private disturbedRows(): Promise<Row[]> {
    const start = (name: 'CoreDNS' | 'ours', upstreams: readonly number[]): Promise<DnsProcess> =>
      this.start(name, 'kubeadm', { upstreams })
    return disturbedRows({ cluster: this.cluster, start })
  }

  private async threadRows(): Promise<Row[]> {
    const queries = this.cluster.writeQueries('A')
    const run = async (flags: readonly string[]): Promise<LoadResult & { readonly mb: number }> => {
      const server = await this.start('ours', 'kubeadm', { flags })
      await saturate(server, { queries, seconds: WARM_UP_SECONDS })
      const result = await saturate(server, { queries, seconds: 2 * SECONDS })
      const mb = residentMb(server.pid)
      await this.stop(server)
      return { ...result, mb }
    }
    const single = await run([])
    const two = await run(['--workers', '2'])
    const three = await run(['--workers', '3'])
    const scale = (2 * single.cpuUs) / two.cpuUs
    return [
      row('server', 'two threads against one, by CPU per query on one core', '×', scale, {
        atLeast: 1.8,
      }),
      row('server', 'memory of two threads, less that of one process', 'MB', two.mb - single.mb),
      row('server', 'memory of a further thread', 'MB', three.mb - two.mb, { atMost: 30 }),
    ]
  }
}

function say(step: string): void {
  process.stderr.write(`${(performance.now() / 1000).toFixed(0).padStart(4)} s: ${step} …\n`)
}
