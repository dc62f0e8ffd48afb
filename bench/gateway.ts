/**
 * The gateway as a whole: what a request costs in workerd and on Node beside a bare app and
 * CoreDNS, how soon a change is answered, how a cold one begins, and how much it holds.
 * @module
 */
import { join } from 'node:path'
import type { BuiltSnapshot } from '../src/cluster/follow/snapshot-builder.ts'
import { nameOf } from '../src/dns/names/name.ts'
import { TYPE } from '../src/dns/names/rr-type.ts'
import { writeQuery } from '../src/dns/wire/write-query.ts'
import { prepareCoreDns } from '../test/real-cluster/binaries.ts'
import { BUN, missingRuntime } from '../test/runtimes.ts'
import { startGateway } from '../test/workerd.ts'
import type { GeneratedService } from './cluster-objects.ts'
import { FollowedCluster } from './followed-cluster.ts'
import { coldRows } from './gateway-cold.ts'
import { type Asking, costOf, prepareLoad } from './gateway-load.ts'
import { memoryRows } from './gateway-memory.ts'
import {
  type BenchServer,
  benchGatewayOf,
  publishTo,
  startBare,
  startCoreDns,
  startOurs,
  tokenFrom,
} from './gateway-servers.ts'
import { propagationRows } from './propagation.ts'
import { median, type Row, ratioRow } from './row.ts'
import { startupRows } from './startup.ts'

const RECORDS = 100_000
const REQUESTS = 20_000
const QUESTIONS = 1024
const ROUNDS = 5
/** Rounds of each server that are not counted: compilers are at work for some 60,000 requests. */
const WARM_UP_ROUNDS = 3

/** Measures. */
export async function benchGateway(): Promise<Row[]> {
  const missing = prepareLoad() ?? (missingRuntime(BUN) || undefined)
  if (missing !== undefined) throw new Error(missing)
  const cluster = new FollowedCluster(RECORDS)
  const built = cluster.build()
  const names = cluster.services.filter(({ isHeadless }) => !isHeadless).slice(0, QUESTIONS)
  const messages = names.map((service) =>
    writeQuery({ name: nameOf(nameText(service)), type: TYPE.A }),
  )
  const namespaces = [...new Set(names.map(({ namespace }) => namespace))].slice(0, 90)
  const seen = messages.filter((_, i) => namespaces.includes(names[i]?.namespace ?? ''))
  return [
    ...(await workerRows(built, seen, namespaces)),
    ...(await nodeRows(built, seen, { namespaces, hosts: hostsOf(names) })),
    ...(await coldRows()),
    ...(await memoryRows()),
    ...startupRows(),
    ...(await propagationRows(cluster)),
  ]
}

function nameText({ name, namespace }: GeneratedService): string {
  return `${name}.${namespace}.svc.cluster.local`
}

function hostsOf(services: readonly GeneratedService[]): string {
  return services.map((one) => `${one.clusterIPs[0]} ${nameText(one)}\n`).join('')
}

async function workerRows(
  built: BuiltSnapshot,
  messages: readonly Uint8Array[],
  namespaces: readonly string[],
): Promise<Row[]> {
  const { keys, variables } = await benchGatewayOf()
  const ours = await startGateway({ port: 0, variables })
  const entry = join(import.meta.dirname, 'servers/bare-worker.ts')
  const bare = await startGateway({ port: 0, variables: {}, entry })
  await publishTo(ours.url, keys, built)
  const headers = { authorization: `Bearer ${await tokenFrom(ours.url, namespaces)}` }
  const rows = []
  for (const [method, atMost] of [
    ['GET', 1.5],
    ['POST', 2],
  ] as const) {
    const asking = { messages, method, headers }
    const [one, other] = await inTurn([ours, bare], asking)
    const base = { bench: 'gateway', metric: `CPU for a ${method} in workerd`, unit: 'µs' }
    const peer = { name: 'a bare Hono route', value: other ?? 0 }
    rows.push(ratioRow(base, one ?? 0, peer, { atLeast: 1 / atMost }))
  }
  await ours.stop()
  await bare.stop()
  return rows
}

async function nodeRows(
  built: BuiltSnapshot,
  messages: readonly Uint8Array[],
  { namespaces, hosts }: { readonly namespaces: readonly string[]; readonly hosts: string },
): Promise<Row[]> {
  const { keys, variables } = await benchGatewayOf()
  const ours = await startOurs(variables, true)
  const bun = await startOurs(variables, true, { command: BUN.command })
  const bare = await startBare('bare-node')
  const http2 = await startBare('bare-http2')
  const coredns = await startCoreDns(prepareCoreDns(), hosts)
  // The benchmark trusts the authority of its own certificates.
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  for (const { url } of [ours, bun]) await publishTo(url, keys, built)
  const headersOf = async (url: string): Promise<Asking['headers']> => {
    return { authorization: `Bearer ${await tokenFrom(url, namespaces)}` }
  }
  const [headers, bunHeaders] = [await headersOf(ours.url), await headersOf(bun.url)]
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '1'
  const rows = []
  for (const [method, atLeast] of [
    ['GET', 3],
    ['POST', 2.5],
  ] as const) {
    const asking = { messages, method, headers }
    const servers = [ours, bare, http2, coredns, { ...bun, headers: bunHeaders }]
    const [one = 0, bareUs = 0, http2Us = 0, peerUs = 0, bunUs = 0] = await inTurn(servers, asking)
    const base = { bench: 'gateway', unit: 'µs' }
    const metric = `CPU for a ${method} on Node, HTTP/2 and TLS`
    const peer = { name: "CoreDNS's https://", value: peerUs }
    rows.push(ratioRow({ ...base, metric }, one, peer, { atLeast }))
    const bareRow = { ...base, metric: `the same of a bare Hono route, ${method}` }
    rows.push(ratioRow(bareRow, bareUs, peer))
    const http2Row = { ...base, metric: `the same of bare node:http2, ${method}` }
    rows.push(ratioRow(http2Row, http2Us, peer))
    const bunRow = { ...base, metric: `CPU for a ${method} on Bun, HTTP/2 and TLS` }
    rows.push(ratioRow(bunRow, bunUs, peer, { atLeast: 8 }))
  }
  for (const server of [ours, bun, bare, http2, coredns]) server.stop()
  return rows
}

/** Asks servers in turn, some rounds; medians. */
async function inTurn(
  servers: readonly (Pick<BenchServer, 'url' | 'pid'> & Partial<Pick<Asking, 'headers'>>)[],
  asking: Omit<Asking, 'url'>,
): Promise<number[]> {
  const costs = servers.map(() => [] as number[])
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    for (const [i, { url, pid, headers = asking.headers }] of servers.entries()) {
      const cost = await costOf(pid, { ...asking, url, headers }, REQUESTS)
      if (round >= 0) costs[i]?.push(cost)
    }
  }
  return costs.map(median)
}
