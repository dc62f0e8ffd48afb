/**
 * From a Corefile's server blocks to a resolver.
 * @module
 */
import { ConfigError, configError, type Problem } from '../corefile/problem.ts'
import type { ServerBlock } from '../corefile/server-block.ts'
import type { Transport, ZoneKey } from '../corefile/zone-key.ts'
import { formatName, nameKey } from '../dns/name.ts'
import { RCODE } from '../dns/rcode.ts'
import type { Host } from '../plugins/host.ts'
import { type Client, failure, type MaybePromise, type Outcome } from '../plugins/plugin.ts'
import { type Chain, compileChain } from './chain.ts'
import type { Listener, ServedZone } from './listener.ts'
import { Resolver } from './resolver.ts'

/** Ports where a Corefile names none. */
export type DefaultPorts = Readonly<Record<Transport, number>>

/** The ports that the transports are known by (RFC 1035, RFC 7858, RFC 8484). */
export const STANDARD_PORTS: DefaultPorts = { dns: 53, tls: 853, https: 443 }

/** On whose behalf plugins ask when no client does. */
const OURSELVES: Client = { address: '127.0.0.1', port: 0, transport: 'udp' }

type Draft = Omit<Listener, 'zones' | 'bounds' | 'takesAnyClass'> & {
  readonly zones: ServedZone[]
  bounds: Listener['bounds']
}

/**
 * Compiles all server blocks.
 * @throws {ConfigError} with all that is wrong in them
 */
export function createResolver(
  blocks: readonly ServerBlock[],
  host: Host,
  ports: DefaultPorts = STANDARD_PORTS,
): Resolver {
  const problems: Problem[] = []
  const drafts = new Map<string, Draft>()
  const chains: Chain[] = []
  const created: { resolver?: Resolver } = {}
  for (const block of blocks) {
    try {
      const lookup = (name: Uint8Array, type: number): MaybePromise<Outcome> =>
        lookupFor(created.resolver, block, { name, type })
      const chain = compileChain(block, { host, server: serverName(block, ports), lookup })
      chains.push(chain)
      for (const key of block.keys) addZone(drafts, { key, chain, port: portOf(key, ports) })
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      problems.push(...error.problems)
    }
  }
  if (problems.length > 0) throw new ConfigError(problems)
  const resolver = new Resolver([...drafts.values()].map(finish), chains, host)
  created.resolver = resolver
  return resolver
}

function lookupFor(
  resolver: Resolver | undefined,
  block: ServerBlock,
  question: { readonly name: Uint8Array; readonly type: number },
): MaybePromise<Outcome> {
  const listener = resolver?.listeners.find(({ zones }) =>
    zones.some(({ zone }) => block.keys.some((key) => key.zone === zone)),
  )
  if (resolver === undefined || listener === undefined) return failure(RCODE.REFUSED)
  return resolver.lookup(listener, OURSELVES, { ...question, depth: 0 })
}

function portOf({ port, transport }: ZoneKey, ports: DefaultPorts): number {
  return port ?? ports[transport]
}

function serverName({ keys: [key] }: ServerBlock, ports: DefaultPorts): string {
  return key === undefined ? '' : `${key.transport}://:${portOf(key, ports)}`
}

function addZone(
  drafts: Map<string, Draft>,
  { key, chain, port }: { key: ZoneKey; chain: Chain; port: number },
): void {
  const { transport, zone } = key
  const binds = chain.features.filter((feature) => feature.kind === 'bind')
  const addresses = binds.flatMap((bind) => bind.addresses)
  const except = binds.flatMap((bind) => bind.except)
  const id = [transport, port, ...addresses, '-', ...except].join(' ')
  const draft = drafts.get(id) ?? { transport, port, addresses, except, zones: [], bounds: {} }
  drafts.set(id, draft)
  for (const feature of chain.features) {
    if (feature.kind === 'timeouts') draft.bounds = { ...draft.bounds, ...feature.bounds }
  }
  const takesAll = (other: ServedZone): boolean =>
    other.chain.admits === undefined && nameKey(other.zone) === nameKey(zone)
  if (chain.admits === undefined && draft.zones.some(takesAll)) {
    const message = `zone "${formatName(zone)}" is served at port ${port} already`
    throw configError(key, message)
  }
  draft.zones.push({ zone, chain })
}

function finish(draft: Draft): Listener {
  return {
    ...draft,
    zones: draft.zones.toSorted((a, b) => b.zone.length - a.zone.length),
    takesAnyClass: draft.zones.some(({ chain }) => chain.takesAnyClass),
  }
}
