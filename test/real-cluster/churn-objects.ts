/**
 * Objects of a cluster that change all the time, and every address that a name of theirs ever had.
 * @module
 */
import { isRecord, recordOf } from '../../src/dns/bytes/unknown.ts'
import type { ApiServer } from './api-server.ts'
import { namespace, service, slice } from './objects.ts'

/** A name that some object published, or was about to. */
export type ChurnName = {
  readonly name: string
  /** Each address that it ever had. */
  readonly addresses: Set<string>
  /** Whether the API server has acknowledged that its Service is deleted. */
  isDeleted: boolean
}

type ChurnService = {
  readonly path: string
  readonly isHeadless: boolean
  readonly churnName: ChurnName
}

const NAMESPACES = 6
const SERVICES = 60
const ENDPOINTS_MAX = 8
const ZONE = 'svc.cluster.local'

/** Makes seeded changes, one at a time. Names and addresses are never used again. */
export class ChurnObjects {
  /** All names so far. */
  readonly names: ChurnName[] = []
  /** Changes by what they did, and those that the API server did not take. */
  readonly counts: Record<string, number> = {}
  private readonly api: ApiServer
  private readonly random: () => number
  private readonly namespaces: string[] = []
  private readonly services: ChurnService[] = []
  private numbers = 0

  constructor(api: ApiServer, random: () => number) {
    this.api = api
    this.random = random
  }

  /** Creates the first objects. */
  async fill(): Promise<void> {
    while (this.namespaces.length < NAMESPACES) await this.addNamespace()
    while (this.services.length < SERVICES) await this.addService()
  }

  /** Makes a change. One that the API server does not take, because it is down, is only counted. */
  async change(): Promise<void> {
    const chance = this.random()
    const [what, act]: [string, () => Promise<void>] =
      chance < 0.01
        ? ['namespaces deleted', () => this.replaceNamespace()]
        : chance < 0.15 && this.services.length > SERVICES / 2
          ? ['Services deleted', () => this.deleteService(this.pick(this.services))]
          : chance < 0.35 && this.services.length < 2 * SERVICES
            ? ['Services created', () => this.addService()]
            : ['Services scaled', () => this.scale(this.pick(this.services))]
    const isTaken = await act().then(
      () => true,
      () => false,
    )
    const counted = isTaken ? what : 'changes not taken'
    this.counts[counted] = (this.counts[counted] ?? 0) + 1
  }

  /** Returns a name that never existed, below a namespace that does. */
  ghost(): string {
    return `ghost-${this.number()}.${this.pick(this.namespaces)}.${ZONE}`
  }

  private number(): number {
    return ++this.numbers
  }

  private pick<T>(all: readonly T[]): T {
    const found = all[Math.floor(this.random() * all.length)]
    if (found === undefined) throw new RangeError('nothing to pick from')
    return found
  }

  private async addNamespace(): Promise<void> {
    const name = `churn-${this.number()}`
    await this.api.create(namespace(name))
    this.namespaces.push(name)
  }

  private async addService(): Promise<void> {
    const number = this.number()
    const [scope, isHeadless] = [this.pick(this.namespaces), this.random() < 0.6]
    const path = `${scope}/s-${number}`
    const clusterIP = isHeadless ? 'None' : addressOf('10.100', number)
    const addresses = new Set(isHeadless ? [] : [clusterIP])
    const churnName = { name: `s-${number}.${scope}.${ZONE}`, addresses, isDeleted: false }
    // Before the request: it may be taken although its response is lost.
    this.names.push(churnName)
    this.services.push({ path, isHeadless, churnName })
    await this.api.create(service(path, { clusterIP }))
    const [added] = this.services.slice(-1)
    if (added !== undefined) await this.api.create(this.sliceOf(added))
  }

  private async scale(one: ChurnService): Promise<void> {
    const changed = this.sliceOf(one)
    await this.api.patch(changed, { endpoints: changed.endpoints })
  }

  private sliceOf({ path, isHeadless, churnName }: ChurnService): ReturnType<typeof slice> {
    const count = Math.floor(this.random() * ENDPOINTS_MAX)
    const addresses = Array.from({ length: count }, () => addressOf('10.200', this.number()))
    if (isHeadless) for (const address of addresses) churnName.addresses.add(address)
    const [, name = ''] = path.split('/')
    return slice(
      path,
      name,
      addresses.map((address) => ({ addresses: [address] })),
    )
  }

  private async deleteService(one: ChurnService): Promise<void> {
    const [, name = ''] = one.path.split('/')
    await this.api.delete(slice(one.path, name, [])).catch(ignoreMissing)
    await this.api.delete(service(one.path)).catch(ignoreMissing)
    one.churnName.isDeleted = true
    this.services.splice(this.services.indexOf(one), 1)
  }

  private async replaceNamespace(): Promise<void> {
    const name = this.pick(this.namespaces)
    await this.addNamespace()
    this.namespaces.splice(this.namespaces.indexOf(name), 1)
    for (const one of this.services.filter(({ path }) => path.startsWith(`${name}/`))) {
      await this.deleteService(one)
    }
    await this.api.delete(namespace(name))
  }
}

/**
 * Returns the addresses that a fresh list of the API server gives each name; absent ones have
 * none.
 */
export async function freshAddresses(api: ApiServer): Promise<ReadonlyMap<string, string[]>> {
  const found = new Map<string, string[]>()
  for (const item of await api.list('Service')) {
    const { metadata, spec } = recordOf(item)
    const { name, namespace: scope } = recordOf(metadata)
    const { clusterIP } = recordOf(spec)
    found.set(`${name}.${scope}.${ZONE}`, clusterIP === 'None' ? [] : [String(clusterIP)])
  }
  for (const item of await api.list('EndpointSlice', 'discovery.k8s.io/v1')) {
    const { metadata, endpoints } = recordOf(item)
    const { labels, namespace: scope } = recordOf(metadata)
    const name = `${recordOf(labels)['kubernetes.io/service-name']}.${scope}.${ZONE}`
    const isHeadless = found.get(name)?.every((address) => address.startsWith('10.200.')) ?? false
    if (!isHeadless || !Array.isArray(endpoints)) continue
    const addresses = endpoints.filter(isRecord).flatMap((one) => String(one.addresses))
    found.get(name)?.push(...addresses)
  }
  return found
}

function addressOf(prefix: string, number: number): string {
  return `${prefix}.${(number >>> 8) & 255}.${number & 255}`
}

function ignoreMissing(error: unknown): void {
  if (!String(error).includes(': 404 ')) throw error
}
