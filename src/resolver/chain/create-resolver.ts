/**
 * Creates a resolver from a Corefile's server blocks.
 * @module
 */

import { ConfigError, type Problem, problemAt } from '../../corefile/problem.ts'
import type { ServerBlock } from '../../corefile/server-block.ts'
import type { ZoneKey } from '../../corefile/zone-key.ts'
import { finish as finishSteps, type Steps } from '../../dns/bytes/steps.ts'
import { formatName, nameKey } from '../../dns/names/name.ts'
import { RCODE } from '../../dns/names/rcode.ts'
import type { Client } from '../contract/client.ts'
import type { MaybePromise } from '../contract/maybe-promise.ts'
import { failure, type Outcome } from '../contract/outcome.ts'
import type { FactsByPlugin, PluginHost } from '../contract/plugin-entry.ts'
import {
  type DefaultPorts,
  type ServerAddress,
  STANDARD_PORTS,
  serverAddresses,
} from '../contract/server-address.ts'
import { readBlockSettings } from './block-settings.ts'
import { type Chain, compileChain } from './chain.ts'
import { PROBLEMS_MAX } from './configure-plugin.ts'
import type { Listener, ServedZone } from './listener.ts'
import { Resolver } from './resolver.ts'

/** The client of queries that plugins send for the server itself. */
const LOCAL_CLIENT: Client = { address: '127.0.0.1', port: 0, transport: 'udp' }

/** A listener while its zones are collected. */
type Draft = Omit<Listener, 'zones' | 'bounds' | 'takesAnyClass'> & {
  readonly zones: ServedZone[]
  /** The zones whose block admits all queries, by `nameKey`. */
  readonly taken: Map<string, ZoneKey>
  bounds: Listener['bounds']
}

/**
 * Compiles all server blocks at once: only while nothing waits for an answer.
 * @throws {ConfigError} with every mistake in them
 */
export function createResolver(
  blocks: readonly ServerBlock[],
  host: PluginHost,
  ports: DefaultPorts = STANDARD_PORTS,
): Resolver {
  return finishSteps(resolverSteps(blocks, host, ports))
}

/**
 * Compiles all server blocks, one in each step.
 * @throws {ConfigError} with every mistake in them
 */
export function* resolverSteps(
  blocks: readonly ServerBlock[],
  host: PluginHost,
  ports: DefaultPorts = STANDARD_PORTS,
): Steps<Resolver> {
  const problems: Problem[] = []
  const drafts = new Map<string, Draft>()
  const chains: Chain[] = []
  const rings = new Map<string, Map<string, Uint8Array>>()
  const created: { resolver?: Resolver } = {}
  for (const block of blocks) {
    if (problems.length >= PROBLEMS_MAX) break
    try {
      const lookup = (name: Uint8Array, type: number): MaybePromise<Outcome> =>
        lookupFor(created.resolver, block, { name, type })
      const servers = serversOf(block, ports, host.plugins)
      const secrets = secretsAt(block, ports, rings)
      const chain = yield* compileChain(block, { host, servers, lookup, secrets })
      chains.push(chain)
      for (const key of block.keys) {
        problems.push(...addZone(drafts, { key, chain, port: portOf(key, ports) }))
      }
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      problems.push(...error.problems)
    }
    yield
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
  return resolver.lookup(listener, LOCAL_CLIENT, { ...question, depth: 0 })
}

function portOf({ port, transport }: ZoneKey, ports: DefaultPorts): number {
  return port ?? ports[transport]
}

function serversOf(
  block: ServerBlock,
  ports: DefaultPorts,
  plugins: FactsByPlugin,
): ServerAddress[] {
  const [key] = block.keys
  if (key === undefined) return []
  const { addresses = [] } = readBlockSettings(block, plugins)
  return serverAddresses(key.transport, portOf(key, ports), addresses)
}

/** Returns the TSIG secrets of each port of a block; all blocks on a port share them. */
function secretsAt(
  { keys }: ServerBlock,
  ports: DefaultPorts,
  rings: Map<string, Map<string, Uint8Array>>,
): Map<string, Uint8Array>[] {
  return keys.map((key) => {
    const place = `${key.transport} ${portOf(key, ports)}`
    const ring = rings.get(place) ?? new Map<string, Uint8Array>()
    rings.set(place, ring)
    return ring
  })
}

/** Adds a zone to the listener of each address that its block binds to. */
function addZone(
  drafts: Map<string, Draft>,
  { key, chain, port }: { key: ZoneKey; chain: Chain; port: number },
): Problem[] {
  const { transport, zone } = key
  const binds = chain.features.filter((feature) => feature.kind === 'bind')
  const bound = binds.flatMap(({ addresses, except }) =>
    addresses.map((address) => ({ addresses: [address], except })),
  )
  const places = bound.length === 0 ? [{ addresses: [], except: [] }] : bound
  for (const { addresses, except } of places) {
    const taken = takenBy({ key, chain, port, addresses }, drafts)
    if (taken !== undefined) return [taken]
    const id = [transport, port, ...addresses, '-', ...except].join(' ')
    const draft: Draft = drafts.get(id) ?? {
      transport,
      port,
      addresses,
      except,
      zones: [],
      taken: new Map(),
      bounds: {},
    }
    drafts.set(id, draft)
    for (const feature of chain.features) {
      if (feature.kind === 'timeouts') draft.bounds = { ...draft.bounds, ...feature.bounds }
    }
    draft.zones.push({ zone, chain })
    if (chain.admits === undefined) draft.taken.set(nameKey(zone), key)
  }
  return []
}

/**
 * Returns the problem if another block serves the zone at the same address (CoreDNS,
 * core/dnsserver/register.go, `validateZonesAndListeningAddresses`). Blocks with `view` may share
 * a zone.
 */
function takenBy(
  place: { key: ZoneKey; chain: Chain; port: number; addresses: readonly string[] },
  drafts: ReadonlyMap<string, Draft>,
): Problem | undefined {
  const { key, chain, port, addresses } = place
  for (const draft of drafts.values()) {
    if (draft.transport !== key.transport || draft.port !== port) continue
    const isSame = draft.addresses[0] === addresses[0]
    if (!isSame && draft.addresses.length > 0 && addresses.length > 0) continue
    if (isSame && chain.admits !== undefined) continue
    const before = draft.taken.get(nameKey(key.zone))
    if (before === undefined) continue
    const where = isSame ? 'already' : 'already, on addresses that overlap with these'
    const { line, file } = before
    const from = file === key.file ? `line ${line}` : `${file}:${line}`
    const message = `zone "${formatName(key.zone)}" is served at port ${port} ${where} (${from})`
    return problemAt(key, message)
  }
  return undefined
}

function finish({ taken: _, ...draft }: Draft): Listener {
  const features = draft.zones.flatMap(({ chain }) => chain.features)
  const tls = features.find(({ kind }) => kind === 'tls')
  // CoreDNS takes those of the last block (core/dnsserver/server.go).
  const proxy = features.findLast(({ kind }) => kind === 'proxyproto')
  const bounds = features.find(({ kind }) => kind === draft.transport)
  return {
    ...draft,
    ...(proxy?.kind === 'proxyproto' && { proxy: proxy.headers }),
    ...(tls?.kind === 'tls' && { tls: tls.service }),
    ...(bounds?.kind === 'https' && { httpConnectionsMax: bounds.connectionsMax }),
    ...(bounds?.kind === 'grpc' && bounds.limits),
    zones: draft.zones.toSorted((a, b) => b.zone.length - a.zone.length),
    takesAnyClass: draft.zones.some(({ chain }) => chain.takesAnyClass),
  }
}
