/**
 * `kubedoh serve` on a live API server: CPU time per query of each transport, how soon a change is
 * answered, start and memory.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { nameOf } from '../../src/dns/names/name.ts'
import { TYPE } from '../../src/dns/names/rr-type.ts'
import { writeQuery } from '../../src/dns/wire/write-query.ts'
import { SERVER } from '../../test/certificates.ts'
import { freePort } from '../../test/free-port.ts'
import { prepareBinaries } from '../../test/real-cluster/binaries.ts'
import { percentiles, saturate } from '../dns-load.ts'
import { msUntilAnswered } from '../dns-probe.ts'
import { type Asking, costOf, prepareLoad } from '../gateway-load.ts'
import { BUNDLES } from '../places.ts'
import { BenchCluster, CLUSTER_SIZE } from '../server-cluster.ts'
import {
  formatCorefile,
  pinToLoadCore,
  prepareProgram,
  residentMb,
  startCorefile,
  startUnbound,
  untilQuiet,
} from '../server-processes.ts'
import type { Build } from './commit.ts'
import type { Contest, Contestant, Costs } from './rounds.ts'

const SECONDS = 1
const REQUESTS = 10_000
const QUERIES = 1024
const CHANGES = 40
const CHANGE_PAUSE_MS = 5
/** Phases that are not counted. */
const WARM_UP_PHASES = 2
/** Time until memory is read, in which the server returns what load has left. */
const SETTLE_MS = 7000

/** Starts an API server with many endpoints. */
export async function prepareServer(): Promise<Contest> {
  const binaries = prepareBinaries()
  if (typeof binaries === 'string') throw new Error(binaries)
  const programs = { dnsperf: 'dnsperf', taskset: 'util-linux', unbound: 'unbound' }
  const missing = Object.entries(programs).map(([name, debian]) => prepareProgram(name, debian))
  const first = prepareLoad() ?? missing.find((one) => one !== undefined)
  if (first !== undefined) throw new Error(first)
  pinToLoadCore()
  for (const [name, text] of Object.entries(SERVER)) writeFileSync(join(BUNDLES, name), text)
  const cluster = await BenchCluster.start(binaries)
  await cluster.grow(CLUSTER_SIZE)
  const upstream = await startUnbound(BUNDLES)
  return {
    start: (build) => startServer(build, cluster, upstream.port),
    stop: () => Promise.all([upstream.stop(), cluster.api.stop()]),
  }
}

async function startServer(
  build: Build,
  cluster: BenchCluster,
  upstream: number,
): Promise<Contestant> {
  const kubeconfig = cluster.api.exporterConfig
  const kubeadm = await formatCorefile('kubeadm', { kubeconfig, upstreams: [upstream] })
  const [directive = ''] = /^ {2}kubernetes [\s\S]*?^ {2}\}\n/m.exec(kubeadm) ?? []
  const httpsPort = await freePort()
  const corefile = `${kubeadm}https://.:${httpsPort} {
  bind 127.0.0.1
  tls ${join(BUNDLES, 'cert')} ${join(BUNDLES, 'key')}
${directive}}
`
  const server = await startCorefile({ name: build.name, build }, corefile)
  const [name = '', address = ''] = [...cluster.clusterIps()].at(-1) ?? []
  const startMs = await msUntilAnswered(server.port, { name, address })
  await untilQuiet(server.pid)
  const messages = [...cluster.clusterIps().keys()]
    .slice(0, QUERIES)
    .map((known) => writeQuery({ name: nameOf(known), type: TYPE.A }))
  const load = (queries: 'A' | 'mix', protocol: 'udp' | 'tcp') => async (): Promise<Costs> => {
    const path = cluster.writeQueries(queries)
    const { cpuUs } = await saturate(server, { queries: path, seconds: SECONDS, protocol })
    return { [`CPU per query, ${protocol.toUpperCase()} ${queries}`]: cpuUs }
  }
  const https = (method: Asking['method']) => async (): Promise<Costs> => {
    const asking: Asking = { url: `https://127.0.0.1:${httpsPort}`, messages, method, headers: {} }
    return { [`CPU per query, HTTPS ${method}`]: await costOf(server.pid, asking, REQUESTS) }
  }
  const loads = [
    load('A', 'udp'),
    load('mix', 'udp'),
    load('A', 'tcp'),
    https('GET'),
    https('POST'),
  ]
  for (let i = 0; i < WARM_UP_PHASES; i++) for (const phase of loads) await phase()
  return {
    pids: [server.pid],
    start: { 'start → first answer': startMs },
    phases: [...loads, () => changes(cluster, server.port)],
    end: async () => {
      await sleep(SETTLE_MS)
      return { 'resident memory': residentMb(server.pid) }
    },
    stop: server.stop,
  }
}

async function changes(cluster: BenchCluster, port: number): Promise<Costs> {
  const times: number[] = []
  for (let i = 0; i < CHANGES; i++) {
    times.push(await msUntilAnswered(port, await cluster.change()))
    await sleep(CHANGE_PAUSE_MS)
  }
  return { 'change → answered, median': percentiles(times).p50 }
}
