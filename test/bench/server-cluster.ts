/**
 * A live cluster for the benchmark of `kubedoh serve`: a kube-apiserver with the demo's objects at
 * first, then with 50,000 endpoints more, of which some change.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ApiObject, ApiServer } from '../cluster/api-server.ts'
import type { Binaries } from '../cluster/binaries.ts'
import { namespace, RIGHTS, service, shopObjects, slice } from '../cluster/objects.ts'
import { randomFrom } from './cluster-objects.ts'
import { BUNDLES } from './places.ts'

/** Number of objects of each kind. */
export type ClusterSize = {
  /** Services with a cluster IP and 5 endpoints. */
  readonly plain: number
  /** Headless Services with 25 endpoints. */
  readonly headless: number
}

const PLAIN_ENDPOINTS = 5
const HEADLESS_ENDPOINTS = 25
/** Headless Services with one endpoint that `change` moves. */
const MOVING = 200
const CREATED_TOGETHER = 16
const QUERIES = 20_000
const ZONE = 'svc.cluster.local'
const NAMESPACES = 20

/** A name, and the address that it gets or has. */
export type NamedAddress = { readonly name: string; readonly address: string }

/** The cluster. */
export class BenchCluster {
  readonly api: ApiServer
  private readonly size: ClusterSize
  private changes = 0

  private constructor(api: ApiServer, size: ClusterSize) {
    this.api = api
    this.size = size
  }

  /** Starts an API server with the demo's objects. */
  static async start(binaries: Binaries, size: ClusterSize): Promise<BenchCluster> {
    const api = await ApiServer.start(binaries)
    for (const object of [...RIGHTS, ...shopObjects()]) await api.create(object)
    return new BenchCluster(api, size)
  }

  /** Number of endpoints after `fill`. */
  get endpoints(): number {
    const { plain, headless } = this.size
    return plain * PLAIN_ENDPOINTS + headless * HEADLESS_ENDPOINTS + MOVING
  }

  /** Creates all other objects. */
  async fill(): Promise<void> {
    for (let i = 0; i < NAMESPACES; i++) await this.api.create(namespace(`team-${i}`))
    const left = this.objects()
    const create = async (): Promise<void> => {
      for (const object of left) await this.api.create(object)
    }
    await Promise.all(Array.from({ length: CREATED_TOGETHER }, create))
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
    const all = Array.from(
      { length: this.size.plain },
      (_, i) => [plainName(i), clusterIp(i)] as const,
    )
    return new Map(all)
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

  private *objects(): Generator<ApiObject> {
    const { plain, headless } = this.size
    let pods = 0
    const endpoints = (count: number): { addresses: string[] }[] =>
      Array.from({ length: count }, () => ({ addresses: [podIp(pods++)] }))
    for (let i = 0; i < plain; i++) {
      const path = `team-${i % NAMESPACES}/web-${i}`
      yield service(path, { clusterIP: clusterIp(i) })
      yield slice(path, `web-${i}`, endpoints(PLAIN_ENDPOINTS))
    }
    for (let i = 0; i < headless; i++) {
      const path = `team-${i % NAMESPACES}/db-${i}`
      yield service(path, { clusterIP: 'None' })
      yield slice(path, `db-${i}`, endpoints(HEADLESS_ENDPOINTS))
    }
    for (let i = 0; i < MOVING; i++) {
      const path = `team-${i % NAMESPACES}/moving-${i}`
      yield service(path, { clusterIP: 'None' })
      yield slice(path, `moving-${i}`, endpoints(1))
    }
  }
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
