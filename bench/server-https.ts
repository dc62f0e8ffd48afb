/**
 * CPU time per query of DNS over HTTPS: `kubedoh serve` on Node and on Bun, CoreDNS and dnsdist's
 * packet cache, server by server in turn.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorText } from '../src/dns/bytes/unknown.ts'
import { nameOf } from '../src/dns/names/name.ts'
import { TYPE } from '../src/dns/names/rr-type.ts'
import { writeQuery } from '../src/dns/wire/write-query.ts'
import { SERVER } from '../test/certificates.ts'
import { freePort } from '../test/free-port.ts'
import { BUN, missingRuntime } from '../test/runtimes.ts'
import { type Asking, costOf, prepareLoad } from './gateway-load.ts'
import { BUNDLES } from './places.ts'
import { median, type Row, ratioRow } from './row.ts'
import {
  DNSDIST_ARGS,
  type DnsProcess,
  formatDnsdist,
  prepareProgram,
  startCorefile,
  startProcess,
} from './server-processes.ts'

const IS_QUICK = process.env.BENCH_QUICK === '1'
const ROUNDS = IS_QUICK ? 2 : 5
const REQUESTS = IS_QUICK ? 5000 : 20_000
/** Rounds that are not counted: compilers are at work for some 60,000 requests. */
const WARM_UP_ROUNDS = IS_QUICK ? 1 : 3
const QUERIES = 1024
const START_TRIES = 100
const CURL_MS = 5000

/** What the servers answer from. */
export type HttpsSources = {
  readonly coredns: string
  readonly kubeconfig: string
  /** Port of a DNS server that dnsdist asks; 0 for none. */
  readonly upstream: number
  readonly names: Iterable<string>
}

type Method = Asking['method']

/** Measures; what is missing is printed, and its rows are left out. */
export async function httpsRows(sources: HttpsSources): Promise<Row[]> {
  const missing = prepareLoad()
  if (missing !== undefined) return reportMissing(missing)
  for (const [name, text] of Object.entries(SERVER)) writeFileSync(join(BUNDLES, name), text)
  const servers = await startServers(sources)
  const messages = [...sources.names]
    .slice(0, QUERIES)
    .map((name) => writeQuery({ name: nameOf(name), type: TYPE.A }))
  try {
    const rows: Row[] = []
    for (const method of ['GET', 'POST'] as const) {
      rows.push(...rowsOf(method, await costsOf(servers, { messages, method, headers: {} })))
    }
    return rows
  } finally {
    await Promise.all(Array.from(servers.values(), (server) => server.stop()))
  }
}

function reportMissing(text: string): [] {
  process.stderr.write(`not measured: DNS over HTTPS: ${text}\n`)
  return []
}

async function startServers(sources: HttpsSources): Promise<ReadonlyMap<string, DnsProcess>> {
  const servers = new Map<string, DnsProcess>()
  const { coredns, upstream } = sources
  const corefile = `https://.:53 {
  bind 127.0.0.1
  tls ${join(BUNDLES, 'cert')} ${join(BUNDLES, 'key')}
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    kubeconfig ${sources.kubeconfig}
  }
}
`
  servers.set('CoreDNS', await startCorefile({ name: 'CoreDNS', coredns }, corefile))
  servers.set('Node', await startCorefile({ name: 'ours' }, corefile))
  const noBun = missingRuntime(BUN)
  if (noBun) reportMissing(noBun)
  else servers.set('Bun', await startCorefile({ name: 'ours', runtime: BUN.command }, corefile))
  const noDnsdist = upstream === 0 ? 'dnsdist needs unbound' : prepareProgram('dnsdist', 'dnsdist')
  if (noDnsdist !== undefined) reportMissing(noDnsdist)
  else servers.set('dnsdist', await startDnsdist(upstream))
  return servers
}

/** Starts dnsdist with a packet cache before another server. */
async function startDnsdist(upstream: number): Promise<DnsProcess> {
  const port = await freePort()
  const conf = join(BUNDLES, 'dnsdist.conf')
  const [cert, key] = [join(BUNDLES, 'cert'), join(BUNDLES, 'key')]
  const plainPort = await freePort()
  writeFileSync(conf, formatDnsdist({ port, plainPort, upstream, cert, key }))
  return startProcess({ name: 'dnsdist', command: 'dnsdist', args: [...DNSDIST_ARGS, conf], port })
}

async function costsOf(
  servers: ReadonlyMap<string, DnsProcess>,
  asking: Omit<Asking, 'url'>,
): Promise<ReadonlyMap<string, number>> {
  const costs = new Map(Array.from(servers.keys(), (name) => [name, [] as number[]]))
  for (const server of servers.values()) await untilServing(server, asking)
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    for (const [name, { pid, port }] of servers) {
      try {
        const cost = await costOf(pid, { ...asking, url: urlOf(port) }, REQUESTS)
        if (round >= 0) costs.get(name)?.push(cost)
      } catch (error) {
        process.stderr.write(`HTTPS ${asking.method}, ${name}: ${errorText(error)}\n`)
      }
    }
  }
  return new Map(Array.from(costs, ([name, all]) => [name, median(all)]))
}

async function untilServing(server: DnsProcess, asking: Omit<Asking, 'url'>): Promise<void> {
  const { method } = asking
  const message = asking.messages[0] ?? new Uint8Array(0)
  const path = method === 'GET' ? `?dns=${Buffer.from(message).toString('base64url')}` : ''
  const body = method === 'GET' ? [] : ['--data-binary', '@-']
  const type = ['-H', 'content-type: application/dns-message']
  const args = [
    '-sfk',
    '--http2',
    ...body,
    ...type,
    '-o',
    '/dev/null',
    `${urlOf(server.port)}/dns-query${path}`,
  ]
  for (let left = START_TRIES; left > 0; left--) {
    if (spawnSync('curl', args, { input: message, timeout: CURL_MS }).status === 0) return
    await sleep(100)
  }
  throw new Error(`${server.name} does not serve DNS over HTTPS`)
}

function urlOf(port: number): string {
  return `https://127.0.0.1:${port}`
}

function rowsOf(method: Method, costs: ReadonlyMap<string, number>): Row[] {
  const table = [
    ['Bun', 'dnsdist', "dnsdist's packet cache", 0.9],
    ['Node', 'CoreDNS', 'CoreDNS', method === 'GET' ? 3 : 2.5],
  ] as const
  return table.flatMap(([runtime, peer, name, atLeast]) => {
    const [ours, value] = [costs.get(runtime), costs.get(peer)]
    if (ours === undefined || value === undefined) return []
    const metric = `CPU per query, HTTPS ${method} on ${runtime}`
    return [ratioRow({ bench: 'server', metric, unit: 'µs' }, ours, { name, value }, { atLeast })]
  })
}
