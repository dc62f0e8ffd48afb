/**
 * The clients of the API server that the benchmark of `kubedoh export` compares.
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClusterKeys } from '../src/exporter/cluster-keys.ts'
import { freePort } from '../test/free-port.ts'
import { start } from '../test/real-cluster/processes.ts'
import { msUntilAnswered } from './dns-probe.ts'
import { type BenchServer, CLUSTER } from './gateway-servers.ts'
import { BUNDLES } from './places.ts'
import type { BenchCluster } from './server-cluster.ts'
import { pinToServerCore, startCorefile } from './server-processes.ts'

/** How long external-dns may take to read all objects. */
const SYNC_MS = 120_000

/** A client of the API server that runs, and how long its start took. */
export type Peer = {
  readonly pid: number
  readonly startMs: number
  /** `http://HOST:PORT` of its metrics. */
  readonly status: string
  readonly stop: () => Promise<unknown>
}

/** The gateway of an exporter, and the exporter's keys. */
export type Target = { readonly gateway: BenchServer; readonly keys: ClusterKeys }

/** Starts CoreDNS, and waits for its first right answer. */
export async function startCoreDns(cluster: BenchCluster, coredns: string): Promise<Peer> {
  const status = `127.0.0.1:${await freePort()}`
  const corefile = `.:53 {
  bind 127.0.0.1
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    kubeconfig ${cluster.api.exporterConfig}
  }
  prometheus ${status}
}
`
  const [name, address] = [...cluster.clusterIps()].at(-1) ?? ['', '']
  const server = await startCorefile({ name: 'CoreDNS', coredns }, corefile)
  const startMs = await msUntilAnswered(server.port, { name, address })
  return { pid: server.pid, stop: server.stop, startMs, status: `http://${status}` }
}

/**
 * Starts an exporter, and waits for its first publication.
 * @param directives of its Corefile beside `kubernetes`
 */
export async function startExporter(
  cluster: BenchCluster,
  { gateway, keys }: Target,
  directives = '',
): Promise<Peer> {
  const listen = `127.0.0.1:${await freePort()}`
  const conf = join(BUNDLES, 'Corefile-export')
  const { exporterConfig } = cluster.api
  const own = `  kubernetes cluster.local {\n    kubeconfig ${exporterConfig}\n  }\n`
  writeFileSync(conf, `. {\n${own}${directives}}\n`)
  const flags = ['--gateway', gateway.url, '--cluster', CLUSTER, '--conf', conf]
  const entry = join(BUNDLES, 'package/run.js')
  const startedMs = performance.now()
  const exporter = start(process.execPath, [entry, 'export', ...flags, '--listen', listen], {
    KUBEDOH_TOKEN: keys.token,
    KUBEDOH_SIGNING_KEY: keys.signingKey,
  })
  const pid = exporter.child.pid ?? 0
  pinToServerCore(pid)
  await exporter.line(/^ready/)
  const startMs = performance.now() - startedMs
  return { pid, startMs, status: `http://${listen}`, stop: exporter.stop }
}

/**
 * Starts external-dns, and waits until it has read all objects of its sources. Its client wants
 * more rights than an exporter's.
 */
export async function startExternalDns(cluster: BenchCluster, program: string): Promise<Peer> {
  const listen = `127.0.0.1:${await freePort()}`
  const sources = [
    '--source=service',
    '--source=ingress',
    `--kubeconfig=${cluster.api.adminConfig}`,
  ]
  const target = ['--provider=inmemory', '--registry=noop', '--dry-run']
  const startedMs = performance.now()
  const running = start(program, [...sources, ...target, `--metrics-address=${listen}`])
  const pid = running.child.pid ?? 0
  pinToServerCore(pid)
  const peer = { pid, status: `http://${listen}`, stop: running.stop }
  const synced = /^external_dns_controller_last_sync_timestamp_seconds [1-9]/m
  while (!synced.test(await metricsOf(peer).catch(() => ''))) {
    if (performance.now() - startedMs > SYNC_MS || running.child.exitCode !== null) {
      throw new Error(`external-dns reads nothing:\n${running.tail()}`)
    }
    await sleep(100)
  }
  return { ...peer, startMs: performance.now() - startedMs }
}

const REQUESTS =
  /^(?:coredns_kubernetes_rest_client_requests_total|external_dns_http_request_duration_seconds_count)\{.*\} (\d+)$/gm

/** Returns how many requests a peer has sent to the API server, by its own metric. */
export async function requestsOf(peer: Pick<Peer, 'status'>): Promise<number> {
  const counts = (await metricsOf(peer)).matchAll(REQUESTS)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}

async function metricsOf({ status }: Pick<Peer, 'status'>): Promise<string> {
  return (await fetch(`${status}/metrics`)).text()
}

/** Lets the kernel forget the largest resident memory of a process so far (proc(5)). */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

/** Returns the largest resident memory of a process in MB. */
export function peakMb(pid: number): number {
  const [, kb = 'NaN'] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kb) / 1024
}
