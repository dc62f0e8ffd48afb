/**
 * `kubedoh gateway` that follows a live API server itself, beside a gateway with an exporter:
 * memory, CPU time of a start and of changes, and how soon it answers. 50,000 endpoints; a fifth in
 * a quick run.
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClusterKeys, createToken } from '../src/exporter/cluster-keys.ts'
import { freePort } from '../test/free-port.ts'
import { prepareBinaries } from '../test/real-cluster/binaries.ts'
import { type Running, start } from '../test/real-cluster/processes.ts'
import { changeRows, type Edge, msUntilEdge } from './edge-probe.ts'
import { peakMb } from './exporter-peers.ts'
import { cpuUs } from './gateway-load.ts'
import { BUNDLES } from './places.ts'
import { type Row, ratioRow } from './row.ts'
import { BenchCluster, CLUSTER_SIZE } from './server-cluster.ts'
import { residentMb } from './server-processes.ts'

const ENTRY = join(BUNDLES, 'package/run.js')
const CHANGES = process.env.BENCH_QUICK === '1' ? 600 : 2000
/** Time for the collector before memory is read. */
const SETTLE_MS = 10_000
const NAME = 'own-cluster'
const PEER = 'gateway and exporter'

/** What the processes of one kind need, together. */
type Needs = {
  readonly startMs: number
  readonly startCpuMs: number
  readonly residentMb: number
  readonly peakMb: number
  readonly changeCpuMs: number
  /** From a change to its answer, at 200 changes a second: median and 99th percentile. */
  readonly changesMs: readonly number[]
}

/** Measures. */
export async function benchOwnCluster(): Promise<Row[]> {
  const binaries = prepareBinaries()
  if (typeof binaries === 'string') throw new Error(binaries)
  const cluster = await BenchCluster.start(binaries)
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-bench-own-'))
  try {
    await cluster.grow(CLUSTER_SIZE)
    const own = await needsOf(cluster, folder, 'own')
    const both = await needsOf(cluster, folder, 'both')
    const peer = (value: number) => ({ name: PEER, value })
    const of = (metric: string, unit: string) => ({ bench: NAME, metric, unit })
    return [
      ratioRow(of('start → answered', 'ms'), own.startMs, peer(both.startMs)),
      ratioRow(of('CPU time of a start', 'ms'), own.startCpuMs, peer(both.startCpuMs)),
      ratioRow(of('resident memory, steady', 'MB'), own.residentMb, peer(both.residentMb)),
      ratioRow(of('peak memory', 'MB'), own.peakMb, peer(both.peakMb)),
      ratioRow(of('CPU time of a change', 'ms'), own.changeCpuMs, peer(both.changeCpuMs)),
      ...['p50', 'p99'].map((part, i) =>
        ratioRow(
          of(`change → answered, ${part}`, 'ms'),
          own.changesMs[i] ?? Number.NaN,
          peer(both.changesMs[i] ?? Number.NaN),
        ),
      ),
    ]
  } finally {
    await cluster.api.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts one kind, measures it, and stops it. */
async function needsOf(
  cluster: BenchCluster,
  folder: string,
  kind: 'own' | 'both',
): Promise<Needs> {
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const conf = file('gateway', '. {\n  kubernetes cluster.local\n}\n')
  const kubernetes = `  kubernetes cluster.local {\n    kubeconfig ${cluster.api.exporterConfig}\n  }\n`
  const exported = file('export', `. {\n${kubernetes}}\n`)
  const [keys, client] = [await createClusterKeys(), await createToken()]
  const { publicKey, tokenSha256 } = keys
  const listen = `127.0.0.1:${await freePort()}`
  const edge: Edge = { url: `http://${listen}`, token: client.token }
  const shared = { CLIENT_TOKEN_SHA256: client.sha256, REQUESTS_PER_MINUTE: '0' }
  const named =
    kind === 'own'
      ? { KUBEDOH_CLUSTER: 'bench', KUBEDOH_CLUSTER_COREFILE: exported }
      : { CLUSTERS: JSON.stringify({ bench: { publicKey, tokenSha256 } }) }
  const run = (words: readonly string[], variables: Readonly<Record<string, string>>): Running =>
    start(process.execPath, [ENTRY, ...words], variables)
  const startedMs = performance.now()
  const gateway = run(['gateway', '--conf', conf, '--listen', listen], { ...shared, ...named })
  await gateway.line(/^ready/)
  const to = ['--gateway', edge.url, '--cluster', 'bench', '--conf', exported, '--listen', '']
  const secrets = { KUBEDOH_TOKEN: keys.token, KUBEDOH_SIGNING_KEY: keys.signingKey }
  const all = kind === 'own' ? [gateway] : [gateway, run(['export', ...to], secrets)]
  const sum = (of: (pid: number) => number): number =>
    all.reduce((total, { child }) => total + of(child.pid ?? 0), 0)
  try {
    const [name, address] = [...cluster.clusterIps()].at(-1) ?? ['', '']
    await msUntilEdge(edge, { name, address })
    const startMs = performance.now() - startedMs
    const startCpuMs = sum(cpuUs) / 1000
    await sleep(SETTLE_MS)
    const memory = { residentMb: sum(residentMb), peakMb: sum(peakMb) }
    const beforeUs = sum(cpuUs)
    const about = { what: 'Endpoint change', count: CHANGES }
    const rows = await changeRows(edge, () => cluster.change(), about)
    const changeCpuMs = (sum(cpuUs) - beforeUs) / 1000 / CHANGES
    return { startMs, startCpuMs, ...memory, changeCpuMs, changesMs: rows.map(({ ours }) => ours) }
  } finally {
    await Promise.all(all.map(({ stop }) => stop()))
  }
}
