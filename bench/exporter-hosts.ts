/**
 * Hostnames of Ingresses and HTTPRoutes in the cluster of a benchmark, and what a look-up of one
 * costs a gateway beside that of a Service.
 * @module
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { nameOf } from '../src/dns/names/name.ts'
import { TYPE } from '../src/dns/names/rr-type.ts'
import { writeQuery } from '../src/dns/wire/write-query.ts'
import type { ApiObject, ApiServer } from '../test/real-cluster/api-server.ts'
import { definition, GATEWAY_API, RIGHTS } from '../test/real-cluster/objects.ts'
import type { Edge } from './edge-probe.ts'
import { costOf } from './gateway-load.ts'
import { median, type Row, ratioRow } from './row.ts'
import type { NamedAddress } from './server-cluster.ts'

/** Directive of an exporter's Corefile that publishes the hostnames. */
export const HOSTS_DIRECTIVE = '  k8s_gateway apps.test {\n    resources HTTPRoute Ingress\n  }\n'
/** Server block of a gateway that answers them. */
export const HOSTS_BLOCK = 'apps.test {\n  k8s_gateway {\n    cluster bench\n  }\n}\n'

const NAMESPACES = 20
/** Ingresses whose address changes. */
const MOVING = 200
const ROUNDS = 5
const REQUESTS = 4000
const MESSAGES = 500
const CREATE_MS = 30_000

/** Ingresses and HTTPRoutes, each with a hostname. */
export class BenchHosts {
  private readonly api: ApiServer
  private readonly count: number
  private changes = 0

  private constructor(api: ApiServer, count: number) {
    this.api = api
    this.count = count
  }

  /** Stores as many of both in all as given, with the rights to read them. */
  static async store(api: ApiServer, count: number): Promise<BenchHosts> {
    await api.patch(...withHosts(RIGHTS))
    await api.create(definition('Gateway', 'gateways'))
    await api.create(definition('HTTPRoute', 'httproutes'))
    const [first, ...rest] = objects(count)
    if (first !== undefined) await createdIn(api, first)
    await api.store(rest)
    return new BenchHosts(api, count)
  }

  /** Changes the address of an Ingress; resolves when the API server has acknowledged it. */
  async change(): Promise<NamedAddress> {
    const number = this.changes++
    const i = number % MOVING
    const ip = `198.19.${(number >>> 8) & 255}.${number & 255}`
    await this.api.setStatus(ingress(i), { loadBalancer: { ingress: [{ ip }] } })
    return { name: ingressHost(i), address: ip }
  }

  /** Returns hostnames of both kinds in turn. */
  names(): string[] {
    return Array.from({ length: Math.min(MESSAGES, this.count / 2) }, (_, i) => {
      const number = this.count / 2 - 1 - i
      return i % 2 === 0 ? ingressHost(number) : routeHost(number)
    })
  }
}

/** Compares the gateway's CPU time for a look-up of a hostname and of a Service. */
export async function hostCostRow(
  pid: number,
  edge: Edge,
  names: { readonly hosts: readonly string[]; readonly services: readonly string[] },
): Promise<Row> {
  const costs: Record<keyof typeof names, number[]> = { hosts: [], services: [] }
  for (let round = 0; round <= ROUNDS; round++) {
    for (const kind of ['services', 'hosts'] as const) {
      const messages = names[kind].map((name) => writeQuery({ name: nameOf(name), type: TYPE.A }))
      const headers = { authorization: `Bearer ${edge.token}` }
      const asking = { url: edge.url, messages, method: 'GET', headers } as const
      const cost = await costOf(pid, asking, REQUESTS)
      // The first round loads shards and compiles code.
      if (round > 0) costs[kind].push(cost)
    }
  }
  const base = { bench: 'exporter', metric: "CPU time of a hostname's look-up", unit: 'µs' }
  const peer = { name: "a Service's", value: median(costs.services) }
  return ratioRow(base, median(costs.hosts), peer, { atLeast: 0.95 })
}

/** Returns the exporter's ClusterRole and its rules with these kinds. */
function withHosts([role = RIGHTS[0]]: readonly ApiObject[]): [ApiObject, unknown] {
  if (role === undefined) throw new TypeError('RIGHTS is empty')
  const verbs = ['list', 'watch']
  const more = [
    { apiGroups: ['networking.k8s.io'], resources: ['ingresses'], verbs },
    { apiGroups: [GATEWAY_API], resources: ['*'], verbs },
  ]
  const rules = Array.isArray(role.rules) ? role.rules : []
  return [role, { rules: [...rules, ...more] }]
}

/** The Gateway of all HTTPRoutes first: the API server serves the new kinds once it is created. */
function* objects(count: number): Generator<ApiObject> {
  yield stored(gatewayApi('Gateway', 'public', {}), {
    addresses: [{ type: 'IPAddress', value: '198.18.0.1' }],
  })
  for (let i = 0; i < count / 2; i++) {
    const ip = `198.18.${i >>> 8}.${i & 255}`
    yield stored(ingress(i), { loadBalancer: { ingress: [{ ip }] } })
    const parentRefs = [{ name: 'public', namespace: 'team-0' }]
    const spec = { hostnames: [routeHost(i)], parentRefs }
    yield stored(gatewayApi('HTTPRoute', `route-${i}`, spec, i % NAMESPACES), {})
  }
}

function ingress(i: number): ApiObject {
  const backend = { service: { name: `web-${i}`, port: { number: 80 } } }
  const http = { paths: [{ path: '/', pathType: 'Prefix', backend }] }
  const metadata = { name: `host-${i}`, namespace: `team-${i % NAMESPACES}` }
  const spec = { rules: [{ host: ingressHost(i), http }] }
  return { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata, spec }
}

function gatewayApi(kind: string, name: string, spec: object, team = 0): ApiObject {
  const metadata = { name, namespace: `team-${team}` }
  return { apiVersion: `${GATEWAY_API}/v1`, kind, metadata, spec }
}

function stored(object: ApiObject, status: object): ApiObject {
  const creationTimestamp = '2026-01-01T00:00:00Z'
  const metadata = { ...object.metadata, uid: randomUUID(), generation: 1, creationTimestamp }
  return { ...object, metadata, status }
}

function ingressHost(i: number): string {
  return `shop-${i}.team-${i % NAMESPACES}.apps.test`
}

function routeHost(i: number): string {
  return `api-${i}.team-${i % NAMESPACES}.apps.test`
}

/** Creates an object; retries while the API server does not serve its new kind yet. */
async function createdIn(api: ApiServer, object: ApiObject): Promise<void> {
  const endMs = performance.now() + CREATE_MS
  for (;;) {
    try {
      await api.create(object)
      return
    } catch (error) {
      if (performance.now() > endMs) throw error
      await sleep(200)
    }
  }
}
