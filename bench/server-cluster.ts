/**
 * A live cluster for the benchmark of `kubedoh serve`: a kube-apiserver with the demo's objects at
 * first, then with many endpoints more, of which some change.
 * @module
 */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ApiObject, ApiServer } from '../test/real-cluster/api-server.ts'
import type { Binaries } from '../test/real-cluster/binaries.ts'
import { namespace, RIGHTS, service, shopObjects, slice } from '../test/real-cluster/objects.ts'
import { randomFrom } from './cluster-objects.ts'
import { BUNDLES } from './places.ts'

/** Number of Services of each kind. */
export type ClusterSize = {
  /** Services with a cluster IP and 5 endpoints. */
  readonly plain: number
  /** Headless Services with 25 endpoints. */
  readonly headless: number
}

/** 50,000 endpoints; a fifth in a quick run. */
export const CLUSTER_SIZE: ClusterSize =
  process.env.BENCH_QUICK === '1' ? { plain: 400, headless: 320 } : { plain: 2000, headless: 1592 }
const PLAIN_ENDPOINTS = 5
const HEADLESS_ENDPOINTS = 25
/** Headless Services with one endpoint that `change` moves. */
const MOVING = 200
const QUERIES = 20_000
const ZONE = 'svc.cluster.local'
const NAMESPACES = 20

/** A name, and the address that it gets or has. */
export type NamedAddress = { readonly name: string; readonly address: string }

/** The cluster. */
export class BenchCluster {
  readonly api: ApiServer
  private size: ClusterSize = { plain: 0, headless: 0 }
  private changes = 0
  private pods = 0

  private constructor(api: ApiServer) {
    this.api = api
  }

  /** Starts an API server with the demo's objects. */
  static async start(binaries: Binaries): Promise<BenchCluster> {
    const api = await ApiServer.start(binaries)
    for (const object of [...RIGHTS, ...shopObjects()]) await api.create(object)
    for (let i = 0; i < NAMESPACES; i++) await api.create(namespace(`team-${i}`))
    return new BenchCluster(api)
  }

  /** Number of endpoints of a cluster of this size, as text. */
  static endpoints({ plain, headless }: ClusterSize): string {
    const count = plain * PLAIN_ENDPOINTS + headless * HEADLESS_ENDPOINTS + MOVING
    return `${count.toLocaleString('en-US')} endpoints`
  }

  /** Creates the objects that are missing for a size. */
  async grow(size: ClusterSize): Promise<void> {
    const from = this.size
    this.size = size
    await this.api.store(storedObjects(this.objects(from, size)))
  }

  /** Moves the endpoint of a Service; resolves when the API server has acknowledged it. */
  async change(): Promise<NamedAddress> {
    const number = this.changes++
    const i = number % MOVING
    const address = `10.250.${(number >>> 8) & 255}.${number & 255}`
    const object = slice(`team-${i % NAMESPACES}/moving-${i}`, `moving-${i}`, [])
    await this.api.patch(object, { endpoints: [{ addresses: [address] }] })
    return { name: `moving-${i}.team-${i % NAMESPACES}.${ZONE}`, address }
  }

  /** Returns the cluster IPs of Services by name. */
  clusterIps(): ReadonlyMap<string, string> {
    return clusterIpsOf(this.size)
  }

  /**
   * Writes queries for dnsperf: A of cluster IPs alone, or a mix like that of pods with
   * `ndots:5`: A, AAAA, names that do not exist, headless Services, SRV and PTR.
   * @returns the path
   */
  writeQueries(kind: 'A' | 'mix'): string {
    const random = randomFrom(7)
    const below = (count: number): number => Math.floor(random() * count)
    const lines = Array.from({ length: QUERIES }, () => {
      const name = plainName(below(this.size.plain))
      const chance = kind === 'A' ? 0 : random()
      if (chance < 0.4) return `${name} A`
      if (chance < 0.65) return `${name} AAAA`
      if (chance < 0.85) return `api-${below(1000)}.example.org.team-1.${ZONE} A`
      if (chance < 0.9) return `${headlessName(below(this.size.headless))} A`
      if (chance < 0.95) return `_http._tcp.${name} SRV`
      const reverse = clusterIp(below(this.size.plain)).split('.').reverse().join('.')
      return `${reverse}.in-addr.arpa PTR`
    })
    const path = join(BUNDLES, `queries-${kind}`)
    writeFileSync(path, `${lines.join('\n')}\n`)
    return path
  }

  private *objects(from: ClusterSize, to: ClusterSize): Generator<ApiObject> {
    const endpoints = (count: number): { addresses: string[] }[] =>
      Array.from({ length: count }, () => ({ addresses: [podIp(this.pods++)] }))
    for (let i = from.plain; i < to.plain; i++) {
      const path = `team-${i % NAMESPACES}/web-${i}`
      yield service(path, addressSpec(clusterIp(i)))
      yield slice(path, `web-${i}`, endpoints(PLAIN_ENDPOINTS))
    }
    for (let i = from.headless; i < to.headless; i++) {
      const path = `team-${i % NAMESPACES}/db-${i}`
      yield service(path, addressSpec('None'))
      yield slice(path, `db-${i}`, endpoints(HEADLESS_ENDPOINTS))
    }
    for (let i = from.plain === 0 ? 0 : MOVING; i < MOVING; i++) {
      const path = `team-${i % NAMESPACES}/moving-${i}`
      yield service(path, addressSpec('None'))
      yield slice(path, `moving-${i}`, endpoints(1))
    }
  }
}

/** Returns unbound's local data with the answers to all queries of a cluster of a size. */
export function* localData({ plain, headless }: ClusterSize): Generator<string> {
  for (let i = 0; i < plain; i++) {
    const [name, ip] = [`${plainName(i)}.`, clusterIp(i)]
    yield `${name} 5 A ${ip}`
    yield `_http._tcp.${name} 5 SRV 0 100 80 ${name}`
    yield `${ip.split('.').reverse().join('.')}.in-addr.arpa. 5 PTR ${name}`
  }
  const pods = plain * PLAIN_ENDPOINTS
  for (let i = 0; i < headless * HEADLESS_ENDPOINTS; i++) {
    yield `${headlessName(Math.floor(i / HEADLESS_ENDPOINTS))}. 5 A ${podIp(pods + i)}`
  }
}

/** Returns the cluster IPs of the Services of a size by name. */
export function clusterIpsOf({ plain }: ClusterSize): ReadonlyMap<string, string> {
  const all = Array.from({ length: plain }, (_, i) => [plainName(i), clusterIp(i)] as const)
  return new Map(all)
}

function addressSpec(ip: string): Readonly<Record<string, unknown>> {
  const families = { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' }
  return {
    clusterIP: ip,
    clusterIPs: [ip],
    type: 'ClusterIP',
    sessionAffinity: 'None',
    ...families,
  }
}

/** Adds to objects what the API server and controllers would: real ones are as long. */
function* storedObjects(objects: Iterable<ApiObject>): Generator<ApiObject> {
  const creationTimestamp = new Date().toISOString().replace(/\.\d+/, '')
  for (const object of objects) {
    const added = {
      uid: randomUUID(),
      generation: 1,
      creationTimestamp,
      managedFields: managed(object),
    }
    yield { ...object, metadata: { ...object.metadata, ...added } }
  }
}

function managed({ apiVersion, kind }: ApiObject): unknown[] {
  const port = { 'f:port': {}, 'f:protocol': {}, 'f:targetPort': {} }
  const fieldsV1 =
    kind === 'Service'
      ? {
          'f:metadata': { 'f:labels': { '.': {}, 'f:app.kubernetes.io/name': {} } },
          'f:spec': {
            ...{ 'f:clusterIP': {}, 'f:internalTrafficPolicy': {}, 'f:sessionAffinity': {} },
            'f:ports': { '.': {}, 'k:{"port":80,"protocol":"TCP"}': { '.': {}, ...port } },
            ...{ 'f:selector': {}, 'f:type': {} },
          },
        }
      : {
          ...{ 'f:addressType': {}, 'f:endpoints': {}, 'f:ports': {} },
          'f:metadata': {
            'f:annotations': { '.': {}, 'f:endpoints.kubernetes.io/last-change-trigger-time': {} },
            'f:generateName': {},
            'f:labels': {
              ...{ '.': {}, 'f:endpointslice.kubernetes.io/managed-by': {} },
              'f:kubernetes.io/service-name': {},
            },
            'f:ownerReferences': {
              '.': {},
              'k:{"uid":"00000000-0000-0000-0000-000000000000"}': {},
            },
          },
        }
  const time = '2026-01-01T00:00:00Z'
  const manager = 'kube-controller-manager'
  return [{ manager, operation: 'Update', apiVersion, time, fieldsType: 'FieldsV1', fieldsV1 }]
}

function plainName(i: number): string {
  return `web-${i}.team-${i % NAMESPACES}.${ZONE}`
}

function headlessName(i: number): string {
  return `db-${i}.team-${i % NAMESPACES}.${ZONE}`
}

function clusterIp(i: number): string {
  return `10.100.${i >>> 8}.${i & 255}`
}

function podIp(i: number): string {
  return `10.${200 + (i >>> 16)}.${(i >>> 8) & 255}.${i & 255}`
}
