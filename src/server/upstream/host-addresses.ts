/**
 * Addresses of upstreams that a Corefile names by hostname.
 * @module
 */
import { ADDRCONFIG, lookup as lookupByCallback } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { promisify } from 'node:util'
import type { MaybePromise } from '../../resolver/contract/maybe-promise.ts'

/** Age at which addresses are looked up again. */
const KEEP_MS = 30_000
/** Maximum number of addresses of a name. */
const ADDRESSES_MAX = 16
/** Maximum number of names whose addresses outlive a reload. */
const NAMES_MAX = 256
const RESOLVER_TIMEOUT_MS = 2000

const lookup = promisify(lookupByCallback)

/** The addresses of one name. */
export class HostAddresses {
  private readonly find: () => Promise<string[]>
  private readonly now: () => number
  private found: readonly string[] = []
  private foundMs = Number.NEGATIVE_INFINITY
  private pending: Promise<readonly string[]> | undefined

  /**
   * @param find looks the name up
   * @param now milliseconds of a monotonic clock
   */
  constructor(find: () => Promise<string[]>, now: () => number = () => performance.now()) {
    this.find = find
    this.now = now
  }

  /**
   * Returns one or more addresses. Only the first ones are waited for: a later lookup runs beside
   * the queries, which a silent resolver must not stop, and keeps the addresses if it fails.
   * @throws {Error} if there are none, with the reason
   */
  current(): MaybePromise<readonly string[]> {
    const { found } = this
    if (this.now() - this.foundMs < KEEP_MS) return found
    this.pending ??= this.look().finally(() => {
      this.pending = undefined
    })
    return found.length > 0 ? found : this.pending
  }

  private async look(): Promise<readonly string[]> {
    try {
      const addresses = await this.find()
      if (addresses.length === 0) throw new Error('the name has no address')
      this.found = addresses.slice(0, ADDRESSES_MAX)
    } catch (error) {
      if (this.found.length === 0) throw error
    }
    this.foundMs = this.now()
    return this.found
  }
}

/** By name and resolvers; the most recently used are at the end. */
const KNOWN = new Map<string, HostAddresses>()

/**
 * Returns the addresses of a name, looked up with the given servers. All upstreams of the process
 * share them, so that a reload while the resolver is silent does not lose them.
 */
export function addressesOf(name: string, resolvers: readonly string[]): HostAddresses {
  const key = [name, ...resolvers].join(' ')
  const known = KNOWN.get(key) ?? new HostAddresses(() => findAddresses(name, resolvers))
  KNOWN.delete(key)
  KNOWN.set(key, known)
  const [oldest = ''] = KNOWN.keys()
  if (KNOWN.size > NAMES_MAX) KNOWN.delete(oldest)
  return known
}

/**
 * Looks a name up with the given servers, `ADDRESS:PORT`; without any, with the system's resolver.
 */
export async function findAddresses(name: string, resolvers: readonly string[]): Promise<string[]> {
  if (resolvers.length === 0) {
    const found = await lookup(name, { all: true, hints: ADDRCONFIG })
    return found.map(({ address }) => address)
  }
  const resolver = new Resolver({ timeout: RESOLVER_TIMEOUT_MS, tries: 1 })
  resolver.setServers([...resolvers])
  const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const addresses = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  const failed = found.find((one) => one.status === 'rejected')
  if (addresses.length === 0 && failed !== undefined) throw failed.reason
  return addresses
}
