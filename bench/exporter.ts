/**
 * `kubedoh export` beside CoreDNS and external-dns on the same live cluster: memory, start,
 * requests to the API server, and how soon a gateway on Node answers with a change.
 *
 * 10,000 Services and 100,000 endpoints, then 10,000 Ingresses and HTTPRoutes as well; `--quick`
 * takes a tenth. The exporter and the gateway, or CoreDNS, have one core; the API server, etcd and
 * the load have the other. A restart of the API server causes the re-lists: its new cache lacks the
 * versions that watches continue from.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Binaries,
  prepareBinaries,
  prepareExternalDns,
} from '../test/real-cluster/binaries.ts'
import { changeRows, type Edge, msUntilEdge } from './edge-probe.ts'
import { BenchHosts, HOSTS_BLOCK, HOSTS_DIRECTIVE, hostCostRow } from './exporter-hosts.ts'
import {
  type Peer,
  peakMb,
  requestsOf,
  resetPeak,
  startCoreDns,
  startExporter,
  startExternalDns,
  type Target,
} from './exporter-peers.ts'
import { prepareLoad } from './gateway-load.ts'
import { benchGatewayOf, startOurs, tokenFrom } from './gateway-servers.ts'
import { median, type Row, ratioRow, row } from './row.ts'
import { BenchCluster } from './server-cluster.ts'
import { pinToLoadCore, pinToServerCore, prepareProgram, residentMb } from './server-processes.ts'

const IS_QUICK = process.env.BENCH_QUICK === '1'
const SIZE = IS_QUICK ? { plain: 726, headless: 254 } : { plain: 7260, headless: 2540 }
const HOSTS = IS_QUICK ? 1000 : 10_000
const STARTS = IS_QUICK ? 1 : 3
const CHANGES = IS_QUICK ? 600 : 2000
/** Time for the collector before memory is read. */
const SETTLE_MS = IS_QUICK ? 3000 : 10_000

/** Measures. */
export async function benchExporter(): Promise<Row[]> {
  const binaries = prepareBinaries()
  if (typeof binaries === 'string') throw new Error(binaries)
  const externalDns = prepareExternalDns()
  const missing = prepareProgram('taskset', 'util-linux') ?? prepareLoad()
  if (missing !== undefined) throw new Error(missing)
  pinToLoadCore()
  const cluster = await BenchCluster.start(binaries)
  try {
    say(`storing ${BenchCluster.endpoints(SIZE)}`)
    await cluster.grow(SIZE)
    const bench = new ExporterBench(cluster, { ...binaries, externalDns })
    return [...(await bench.serviceRows()), ...(await bench.hostRows())]
  } finally {
    await cluster.api.stop()
  }
}

type Programs = Binaries & { readonly externalDns: string }

class ExporterBench {
  private readonly cluster: BenchCluster
  private readonly binaries: Programs

  constructor(cluster: BenchCluster, binaries: Programs) {
    this.cluster = cluster
    this.binaries = binaries
  }

  /** Measures with Services and endpoints alone, which CoreDNS has too. */
  serviceRows(): Promise<Row[]> {
    return withGateway('', async (target, edge) => {
      const { startRow, coredns, ours } = await this.startAll(target)
      const requests = await this.requestRows(coredns, ours)
      const memory = await this.memoryRows({ coredns, ours }, edge)
      await coredns.stop()
      say('changes of endpoints')
      const changes = await changeRows(edge, () => this.cluster.change(), {
        what: 'Endpoint change',
        count: CHANGES,
      })
      await ours.stop()
      return [startRow, ...requests, ...memory, ...changes]
    })
  }

  /** Measures with the hostnames of Ingresses and HTTPRoutes as well. */
  hostRows(): Promise<Row[]> {
    return withGateway(HOSTS_BLOCK, async (target, edge) => {
      say(`storing ${HOSTS} Ingresses and HTTPRoutes`)
      const hosts = await BenchHosts.store(this.cluster.api, HOSTS)
      const exporter = await startExporter(this.cluster, target, HOSTS_DIRECTIVE)
      await msUntilEdge(edge, await hosts.change())
      say('look-ups')
      const services = [...this.cluster.clusterIps().keys()].slice(-500)
      const names = { hosts: hosts.names(), services }
      const cost = await hostCostRow(target.gateway.pid, edge, names)
      await sleep(SETTLE_MS)
      const memory = residentMb(exporter.pid)
      say('changes of Ingresses')
      const changes = await changeRows(edge, () => hosts.change(), {
        what: 'Ingress change',
        count: CHANGES,
      })
      await exporter.stop()
      const what = `resident memory with ${HOSTS.toLocaleString('en-US')} hostnames more`
      return [cost, row('exporter', what, 'MB', memory), ...changes]
    })
  }

  private async startAll(
    target: Target,
  ): Promise<{ readonly startRow: Row; readonly coredns: Peer; readonly ours: Peer }> {
    const starts: Record<'coredns' | 'ours', number[]> = { coredns: [], ours: [] }
    for (let i = 1; ; i++) {
      say(`start ${i} of ${STARTS}`)
      const coredns = await startCoreDns(this.cluster, this.binaries.coredns)
      starts.coredns.push(coredns.startMs)
      // The core is for one of them at a time.
      if (i < STARTS) await coredns.stop()
      const ours = await startExporter(this.cluster, target)
      starts.ours.push(ours.startMs)
      if (i < STARTS) {
        await ours.stop()
        continue
      }
      const base = { bench: 'exporter', metric: 'start → first publish', unit: 'ms' }
      const peer = { name: "CoreDNS's ready", value: median(starts.coredns) }
      const startRow = ratioRow(base, median(starts.ours), peer, { atLeast: 1 / 1.5 })
      return { startRow, coredns, ours }
    }
  }

  /** Compares the requests of a start; external-dns reads Services and Ingresses. */
  private async requestRows(coredns: Peer, ours: Peer): Promise<Row[]> {
    say('external-dns')
    const externalDns = await startExternalDns(this.cluster, this.binaries.externalDns)
    const base = { bench: 'exporter', metric: 'requests of a start', unit: '' }
    const own = await requestsOf(ours)
    const peers = { CoreDNS: coredns, 'external-dns': externalDns }
    const rows: Row[] = []
    for (const [name, peer] of Object.entries(peers)) {
      rows.push(ratioRow(base, own, { name, value: await requestsOf(peer) }, { atLeast: 1 }))
    }
    await externalDns.stop()
    return rows
  }

  private async memoryRows(
    { coredns, ours }: { readonly coredns: Peer; readonly ours: Peer },
    edge: Edge,
  ): Promise<Row[]> {
    const { api } = this.cluster
    await sleep(SETTLE_MS)
    const [theirs, steady] = [residentMb(coredns.pid), residentMb(ours.pid)]
    const [before, theirsBefore] = [await requestsOf(ours), await requestsOf(coredns)]
    for (const { pid } of [coredns, ours]) resetPeak(pid)
    say('restarting the API server')
    await api.pause()
    await api.resume()
    await msUntilEdge(edge, await this.cluster.change())
    await sleep(SETTLE_MS)
    const base = { bench: 'exporter', metric: 'resident memory, steady', unit: 'MB' }
    const [peak, theirPeak] = [peakMb(ours.pid), peakMb(coredns.pid)]
    const after = { name: 'CoreDNS', value: (await requestsOf(coredns)) - theirsBefore }
    return [
      ratioRow(base, steady, { name: 'CoreDNS', value: theirs }, { atLeast: 1 }),
      row('exporter', 'peak at a re-list ÷ steady', '×', peak / steady, { atMost: 1.3 }),
      row('exporter', "CoreDNS's peak at a re-list ÷ steady", '×', theirPeak / theirs),
      ratioRow(
        { bench: 'exporter', metric: 'requests of a re-list', unit: '' },
        (await requestsOf(ours)) - before,
        after,
      ),
    ]
  }
}

/** Runs a part of the benchmark with a gateway of its own, whose Corefile has one block more. */
async function withGateway(
  block: string,
  measure: (target: Target, edge: Edge) => Promise<Row[]>,
): Promise<Row[]> {
  const { keys, variables } = await benchGatewayOf()
  const gateway = await startOurs({ ...variables, COREFILE: variables.COREFILE + block }, false)
  try {
    pinToServerCore(gateway.pid)
    return await measure(
      { gateway, keys },
      { url: gateway.url, token: await tokenFrom(gateway.url, ['*']) },
    )
  } finally {
    gateway.stop()
  }
}

function say(text: string): void {
  process.stderr.write(`${text}\n`)
}
