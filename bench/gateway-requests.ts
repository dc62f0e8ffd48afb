/**
 * What a request costs the gateway, in CPU time of its process: on Node, Bun and Deno over HTTP/2
 * and TLS, behind nginx, and in workerd. Beside it, in the same rounds, the runtime's server with a
 * fixed response, CoreDNS, and dnsdist's packet cache.
 * @module
 */
import { join } from 'node:path'
import type { BuiltSnapshot } from '../src/cluster/follow/snapshot-builder.ts'
import { encodeBase64url } from '../src/dns/bytes/base64url.ts'
import { errorText } from '../src/dns/bytes/unknown.ts'
import { prepareCoreDns } from '../test/real-cluster/binaries.ts'
import { BUN, DENO, missingRuntime } from '../test/runtimes.ts'
import { startGateway } from '../test/workerd.ts'
import { OWN_BUILD } from './against/commit.ts'
import { type Asking, CONNECTIONS, costOf } from './gateway-load.ts'
import {
  type BenchServer,
  benchGatewayOf,
  publishTo,
  startBare,
  startCoreDns,
  startDnsdist,
  startNginx,
  startOurs,
  tokenFrom,
} from './gateway-servers.ts'
import { FIXED, quotientRow, type Row, row } from './row.ts'

const IS_QUICK = process.env.BENCH_QUICK === '1'
const REQUESTS = IS_QUICK ? 10_000 : 20_000
const ROUNDS = IS_QUICK ? 3 : 9
/** Rounds of each server that are not counted: compilers are at work for some 60,000 requests. */
const WARM_UP_ROUNDS = 3
/**
 * Idle connections that nginx keeps to a server: with more requests at a time, it opens new
 * ones.
 */
const NGINX_IDLE = 32
const NGINX_CPU_US = 12

const COREDNS = "CoreDNS's https://"
const DNSDIST = "dnsdist's packet cache"

/** What is published, and asked for. */
export type Published = {
  readonly built: BuiltSnapshot
  /** Queries for names that the token sees. */
  readonly messages: readonly Uint8Array[]
  /** Those of the token. */
  readonly namespaces: readonly string[]
  /** The same names, as a file of hosts. */
  readonly hosts: string
}

type Method = Asking['method']

/** How to ask a server, and whose CPU time counts. */
type Contender = Pick<Asking, 'url' | 'headers' | 'streams'> & { readonly pid: number }

/** Servers of one comparison, by their names in rows. */
type Contest = {
  readonly servers: Readonly<Record<string, Contender>>
  readonly stop: () => Promise<unknown>
}

/** One of ours, and what its cost divided by that of peers may be at most. */
type Held = {
  readonly ours: string
  readonly where: string
  readonly peers: Readonly<Record<string, Partial<Record<Method, number>>>>
}

const BY_TLS: readonly Held[] = [
  {
    ours: 'Node',
    where: 'on Node, HTTP/2 and TLS',
    peers: { [`node:http2 ${FIXED}`]: { GET: 1.4, POST: 1.4 }, [COREDNS]: {} },
  },
  {
    ours: 'Bun',
    where: 'on Bun, HTTP/2 and TLS',
    peers: {
      [`Bun.serve ${FIXED}`]: { GET: 1.7, POST: 1.7 },
      [DNSDIST]: { GET: 1, POST: 1.3 },
      [COREDNS]: {},
    },
  },
  { ours: 'Deno', where: 'on Deno, HTTP/2 and TLS', peers: { [COREDNS]: {} } },
]
const BEHIND_NGINX: Held = {
  ours: 'Node',
  where: 'on Node behind nginx, HTTP/1.1, without that of nginx',
  peers: { CoreDNS: {}, [`node:http ${FIXED}`]: {} },
}
const IN_WORKERD: readonly Held[] = [
  {
    ours: 'workerd',
    where: 'in workerd',
    peers: { [`a fetch handler ${FIXED}`]: { GET: 1.5, POST: 1.5 } },
  },
]

/** Measures. */
export async function requestRows(published: Published): Promise<Row[]> {
  // The benchmark trusts the authority of its own certificates.
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  try {
    return [
      ...(await rowsInWays(BY_TLS, published, startByTls)),
      ...(await nginxRows(published)),
      ...(await rowsInWays(IN_WORKERD, published, startInWorkerd)),
    ]
  } finally {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '1'
  }
}

/**
 * Measures GETs alone, POSTs alone, and both in turn, each on servers that have seen no other
 * requests: a compiler chooses code by all that it has seen.
 */
async function rowsInWays(
  held: readonly Held[],
  published: Published,
  begin: (published: Published) => Promise<Contest>,
): Promise<Row[]> {
  const rows: Row[] = []
  for (const methods of [['GET'], ['POST'], ['GET', 'POST']] as const) {
    const { servers, stop } = await begin(published)
    try {
      const costs = await inTurn(servers, methods, published)
      const among = methods.length > 1 ? ', GETs and POSTs in turn' : ''
      for (const one of held.filter(({ ours }) => ours in servers)) {
        for (const method of methods) {
          const metric = `CPU for a ${method} ${one.where}${among}`
          rows.push(...rowsOf(metric, one, (name) => costs.get(`${method} ${name}`) ?? [], method))
        }
      }
    } finally {
      await stop()
    }
  }
  return rows
}

function rowsOf(
  metric: string,
  { ours, peers }: Held,
  costsOf: (name: string) => readonly number[],
  method: Method,
): Row[] {
  const base = { bench: 'gateway', metric, unit: 'µs' }
  return Object.entries(peers).map(([name, { [method]: atMost }]) => {
    const peer = { name, rounds: costsOf(name) }
    return quotientRow(base, costsOf(ours), peer, atMost === undefined ? undefined : { atMost })
  })
}

/** The share of the server behind nginx; its goal is a time and no quotient. */
async function nginxRows(published: Published): Promise<Row[]> {
  const { servers, stop } = await startBehindNginx(published)
  try {
    const costs = await inTurn(servers, ['GET'], published)
    const metric = `CPU for a GET ${BEHIND_NGINX.where}`
    const costsOf = (name: string): readonly number[] => costs.get(`GET ${name}`) ?? []
    const [first, ...others] = rowsOf(metric, BEHIND_NGINX, costsOf, 'GET')
    if (first === undefined) return []
    const { ours, unit } = first
    return [
      { ...first, ...row('gateway', metric, unit, ours, { atMost: NGINX_CPU_US }) },
      ...others,
    ]
  } finally {
    await stop()
  }
}

async function startByTls(published: Published): Promise<Contest> {
  const noDeno = missingRuntime(DENO)
  if (noDeno) process.stderr.write(`not measured: ${noDeno}\n`)
  const coredns = await startCoreDns(prepareCoreDns(), published.hosts)
  const [node, headers] = await startPublished(published, true)
  const [bun, bunHeaders] = await startPublished(published, true, { runtime: BUN })
  const deno = noDeno ? [] : await startPublished(published, true, { runtime: DENO })
  const [http2, bunServe] = [await startBare('bare-http2'), await startBare('bare-bun')]
  const dnsdist = await startDnsdist(coredns.dnsPort)
  return contestOf({
    Node: { ...node, headers },
    [`node:http2 ${FIXED}`]: { ...http2, headers },
    [COREDNS]: { ...coredns, headers },
    Bun: { ...bun, headers: bunHeaders },
    [`Bun.serve ${FIXED}`]: { ...bunServe, headers },
    [DNSDIST]: { ...dnsdist, headers },
    ...(deno[0] && { Deno: { ...deno[0], headers: deno[1] } }),
  })
}

async function startBehindNginx(published: Published): Promise<Contest> {
  const coredns = await startCoreDns(prepareCoreDns(), published.hosts)
  const bare = await startBare('bare-http1')
  const portOf = ({ url }: BenchServer): number => Number(new URL(url).port)
  const proxied = { TRUSTED_PROXIES: '127.0.0.1' }
  const [node, headers] = await startPublished(published, false, { variables: proxied })
  const behind = async (server: BenchServer, port: number): Promise<Contender & Stoppable> => {
    const { url, stop } = await startNginx(port)
    const both = (): Promise<unknown> => Promise.all([stop(), server.stop()])
    return { url, pid: server.pid, headers, streams: NGINX_IDLE / CONNECTIONS, stop: both }
  }
  return contestOf({
    Node: await behind(node, portOf(node)),
    CoreDNS: await behind(coredns, coredns.plainPort),
    [`node:http ${FIXED}`]: await behind(bare, portOf(bare)),
  })
}

async function startInWorkerd(published: Published): Promise<Contest> {
  const { keys, variables } = await benchGatewayOf()
  const ours = await startGateway({ port: 0, variables, entry: OWN_BUILD.worker })
  const entry = join(import.meta.dirname, 'servers/bare-worker.ts')
  const bare = await startGateway({ port: 0, variables: {}, entry })
  await publishTo(ours.url, keys, published.built)
  const headers = await headersFrom(ours.url, published)
  return contestOf({
    workerd: { ...ours, headers },
    [`a fetch handler ${FIXED}`]: { ...bare, headers },
  })
}

type Stoppable = { readonly stop: () => unknown }

function contestOf(servers: Readonly<Record<string, Contender & Stoppable>>): Contest {
  const stop = (): Promise<unknown> =>
    Promise.all(Object.values(servers).map((server) => server.stop()))
  return { servers, stop }
}

/** Starts a gateway that has the names. Returns the headers of its clients too. */
async function startPublished(
  published: Published,
  isSecure: boolean,
  {
    variables: more = {},
    ...how
  }: Parameters<typeof startOurs>[2] & {
    readonly variables?: Readonly<Record<string, string>>
  } = {},
): Promise<readonly [server: BenchServer, headers: Asking['headers']]> {
  const { keys, variables } = await benchGatewayOf()
  const server = await startOurs({ ...variables, ...more }, isSecure, how)
  await publishTo(server.url, keys, published.built)
  return [server, await headersFrom(server.url, published)]
}

async function headersFrom(url: string, { namespaces }: Published): Promise<Asking['headers']> {
  return { authorization: `Bearer ${await tokenFrom(url, namespaces)}` }
}

/**
 * Asks servers in turn, every other round in the opposite order. Returns the costs of all rounds by
 * method and server; a round that a server does not answer is reported, and not a number.
 */
async function inTurn(
  servers: Contest['servers'],
  methods: readonly Method[],
  { messages }: Published,
): Promise<ReadonlyMap<string, readonly number[]>> {
  await checkAddresses(servers, messages[0] ?? new Uint8Array(0))
  const costs = new Map<string, number[]>()
  const names = Object.keys(servers)
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      for (const method of methods) {
        const cost = await costIn(name, servers[name], { messages, method })
        const key = `${method} ${name}`
        if (round >= 0) costs.set(key, [...(costs.get(key) ?? []), cost])
      }
    }
  }
  return costs
}

async function costIn(
  name: string,
  server: Contender | undefined,
  asking: Pick<Asking, 'messages' | 'method'>,
): Promise<number> {
  if (server === undefined) return Number.NaN
  try {
    return await costOf(server.pid, { ...asking, ...server }, REQUESTS)
  } catch (error) {
    process.stderr.write(`${asking.method}, ${name}: ${errorText(error)}\n`)
    return Number.NaN
  }
}

/** @throws {Error} unless all servers that have names give the same address for one */
async function checkAddresses(servers: Contest['servers'], message: Uint8Array): Promise<void> {
  const addresses = new Set<string>()
  for (const [name, { url, headers }] of Object.entries(servers)) {
    if (name.endsWith(FIXED)) continue
    const response = await fetch(`${url}/dns-query?dns=${encodeBase64url(message)}`, { headers })
    const reply = new Uint8Array(await response.arrayBuffer())
    if (reply[7] !== 1) throw new Error(`${name} has no address: status ${response.status}`)
    addresses.add(reply.slice(-4).join('.'))
  }
  if (addresses.size > 1) throw new Error(`Addresses differ: ${[...addresses].join(', ')}`)
}
