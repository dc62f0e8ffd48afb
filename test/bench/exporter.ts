/**
 * `kubedoh export` beside CoreDNS on the same live cluster: memory, start, requests to the API
 * server, and how soon a gateway on Node answers with a change.
 *
 * 10,000 Services and 100,000 endpoints; BENCH_QUICK=1 takes a tenth. A restart of the API server
 * causes the re-lists: its new cache lacks the versions that watches continue from.
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseAddress } from '../../src/dns/address.ts'
import { nameOf } from '../../src/dns/name.ts'
import { TYPE } from '../../src/dns/rr-type.ts'
import { writeQuery } from '../../src/dns/write-query.ts'
import { askDoh } from '../../src/doh/doh-client.ts'
import type { ClusterKeys } from '../../src/exporter/cluster-keys.ts'
import { type Binaries, prepareBinaries } from '../cluster/binaries.ts'
import { freePort, start } from '../cluster/processes.ts'
import { percentiles } from './dns-load.ts'
import { msUntilAnswered } from './dns-probe.ts'
import {
  type BenchServer,
  benchGatewayOf,
  CLUSTER,
  startOurs,
  tokenFrom,
} from './gateway-servers.ts'
import { BUNDLES } from './places.ts'
import { median, type Row, ratioRow, row } from './row.ts'
import { BenchCluster, type NamedAddress } from './server-cluster.ts'
import { pinToLoadCore, prepareProgram, residentMb, startCorefile } from './server-processes.ts'

const IS_QUICK = process.env.BENCH_QUICK === '1'
const SIZE = IS_QUICK ? { plain: 726, headless: 254 } : { plain: 7260, headless: 2540 }
const STARTS = IS_QUICK ? 1 : 3
const CHANGES = IS_QUICK ? 600 : 2000
const CHANGES_PER_SECOND = 200
/** One of so many changes is asked for. */
const PROBED = 10
/** A client asks again after this time: asking each 5 ms kept both cores busy with queries. */
const POLL_MS = 20
const WAIT_MS = 120_000
/** Time for the collector before memory is read. */
const SETTLE_MS = IS_QUICK ? 3000 : 10_000

/** A client of the API server that runs, and how long its start took. */
type Peer = {
  readonly pid: number
  readonly startMs: number
  /** `http://HOST:PORT` of its metrics. */
  readonly status: string
  readonly stop: () => Promise<unknown>
}

/** Measures. */
export async function benchExporter(): Promise<Row[]> {
  const binaries = prepareBinaries()
  if (typeof binaries === 'string') throw new Error(binaries)
  const missing = prepareProgram('taskset', 'util-linux')
  if (missing !== undefined) throw new Error(missing)
  pinToLoadCore()
  const cluster = await BenchCluster.start(binaries)
  const { keys, variables } = await benchGatewayOf()
  const gateway = await startOurs(variables, false)
  try {
    say(`storing ${BenchCluster.endpoints(SIZE)}`)
    await cluster.grow(SIZE)
    return await new ExporterBench({ cluster, binaries, keys, gateway }).rows()
  } finally {
    gateway.stop()
    await cluster.api.stop()
  }
}

type Parts = {
  readonly cluster: BenchCluster
  readonly binaries: Binaries
  readonly keys: ClusterKeys
  readonly gateway: BenchServer
}

class ExporterBench {
  private readonly parts: Parts

  constructor(parts: Parts) {
    this.parts = parts
  }

  async rows(): Promise<Row[]> {
    const starts: Record<'coredns' | 'ours', number[]> = { coredns: [], ours: [] }
    for (let i = 1; i < STARTS; i++) {
      for (const name of ['coredns', 'ours'] as const) {
        const peer = await this.start(name)
        starts[name].push(peer.startMs)
        await peer.stop()
      }
    }
    const [coredns, ours] = [await this.start('coredns'), await this.start('ours')]
    starts.coredns.push(coredns.startMs)
    starts.ours.push(ours.startMs)
    const requests = await this.requestRow('requests of a start', coredns, ours)
    const memory = await this.memoryRows(coredns, ours)
    await coredns.stop()
    const changes = await this.changeRows()
    await ours.stop()
    const base = { bench: 'exporter', metric: 'start → first publish', unit: 'ms' }
    const peer = { name: "CoreDNS's ready", value: median(starts.coredns) }
    return [
      ratioRow(base, median(starts.ours), peer, { atLeast: 1 / 1.5 }),
      requests,
      ...memory,
      ...changes,
    ]
  }

  private async start(name: 'coredns' | 'ours'): Promise<Peer> {
    say(`starting ${name}`)
    const status = `127.0.0.1:${await freePort()}`
    return name === 'ours' ? this.startOurs(status) : this.startCoreDns(status)
  }

  private async startCoreDns(status: string): Promise<Peer> {
    const { cluster, binaries } = this.parts
    const corefile = `.:53 {
  bind 127.0.0.1
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    kubeconfig ${cluster.api.exporterConfig}
  }
  prometheus ${status}
}
`
    const [name, address] = [...cluster.clusterIps()].at(-1) ?? ['', '']
    const server = await startCorefile({ name: 'CoreDNS', coredns: binaries.coredns }, corefile)
    const startMs = await msUntilAnswered(server.port, { name, address })
    return { pid: server.pid, stop: server.stop, startMs, status: `http://${status}` }
  }

  private async startOurs(listen: string): Promise<Peer> {
    const { cluster, keys, gateway } = this.parts
    const conf = join(BUNDLES, 'Corefile-export')
    const { exporterConfig } = cluster.api
    writeFileSync(
      conf,
      `. {\n  kubernetes cluster.local {\n    kubeconfig ${exporterConfig}\n  }\n}\n`,
    )
    const flags = ['--gateway', gateway.url, '--cluster', CLUSTER, '--conf', conf]
    const entry = join(BUNDLES, 'package/run.js')
    const command = [process.execPath, entry, 'export', ...flags, '--listen', listen]
    const startedMs = performance.now()
    const exporter = start('taskset', ['-c', '0', ...command], {
      KUBEDOH_TOKEN: keys.token,
      KUBEDOH_SIGNING_KEY: keys.signingKey,
    })
    await exporter.line(/^ready/)
    const startMs = performance.now() - startedMs
    const pid = exporter.child.pid ?? 0
    return { pid, startMs, status: `http://${listen}`, stop: exporter.stop }
  }

  private async requestRow(metric: string, coredns: Peer, ours: Peer): Promise<Row> {
    const [theirs, own] = [await requestsOf(coredns), await requestsOf(ours)]
    const base = { bench: 'exporter', metric, unit: '' }
    return ratioRow(base, own, { name: 'CoreDNS', value: theirs }, { atLeast: 1 })
  }

  private async memoryRows(coredns: Peer, ours: Peer): Promise<Row[]> {
    const { api } = this.parts.cluster
    await sleep(SETTLE_MS)
    const [theirs, steady] = [residentMb(coredns.pid), residentMb(ours.pid)]
    const [before, theirsBefore] = [await requestsOf(ours), await requestsOf(coredns)]
    for (const { pid } of [coredns, ours]) resetPeak(pid)
    say('restarting the API server')
    await api.pause()
    await api.resume()
    await msUntilMoved(this.parts, await this.token())
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

  private token(): Promise<string> {
    return tokenFrom(this.parts.gateway.url, ['*'])
  }

  private async changeRows(): Promise<Row[]> {
    say('changes')
    const token = await this.token()
    const { cluster } = this.parts
    const waits: Promise<number>[] = []
    const startMs = performance.now()
    for (let i = 0; i < CHANGES; i++) {
      const changed = cluster.change()
      changed.catch(() => undefined)
      if (i % PROBED === 0) {
        waits.push(changed.then((change) => msUntilEdge(this.parts.gateway.url, token, change)))
      }
      const dueMs = startMs + (1000 * i) / CHANGES_PER_SECOND
      await sleep(Math.max(0, dueMs - performance.now()))
    }
    const rate = (1000 * CHANGES) / (performance.now() - startMs)
    const { p50, p99 } = percentiles(await Promise.all(waits))
    const metric = `change → answered at the gateway, at ${rate.toFixed(0)} changes/s`
    return [
      row('exporter', `${metric}, p50`, 'ms', p50, { atMost: 150 }),
      row('exporter', `${metric}, p99`, 'ms', p99, { atMost: 1000 }),
    ]
  }
}

/** Changes an endpoint and waits until the gateway has it. */
async function msUntilMoved({ cluster, gateway }: Parts, token: string): Promise<number> {
  return msUntilEdge(gateway.url, token, await cluster.change())
}

async function msUntilEdge(
  url: string,
  token: string,
  { name, address }: NamedAddress,
): Promise<number> {
  const message = writeQuery({ name: nameOf(name), type: TYPE.A })
  const wanted = Buffer.from(parseAddress(address) ?? [])
  const startMs = performance.now()
  for (;;) {
    const response = await askDoh(`${url}/dns-query`, message, {
      fetch: (to, init) => fetch(to, init),
      signal: AbortSignal.timeout(WAIT_MS),
      token,
    })
    if (Buffer.from(response).subarray(message.length).includes(wanted)) break
    if (performance.now() - startMs > WAIT_MS) throw new Error(`no ${address} for ${name}`)
    await sleep(POLL_MS)
  }
  return performance.now() - startMs
}

/** Returns how many requests a peer has sent to the API server, by the metric that both have. */
async function requestsOf({ status }: Peer): Promise<number> {
  const text = await (await fetch(`${status}/metrics`)).text()
  const counts = text.matchAll(/^coredns_kubernetes_rest_client_requests_total\{.*\} (\d+)$/gm)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}

/** Lets the kernel forget the largest resident memory of a process so far (proc(5)). */
function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

function peakMb(pid: number): number {
  const [, kb = 'NaN'] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kb) / 1024
}

function say(text: string): void {
  process.stderr.write(`${text}\n`)
}
