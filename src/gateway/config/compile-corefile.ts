/**
 * Compiles a gateway's Corefile.
 * @module
 */

import type { KubernetesOptions } from '../../corefile/kubernetes-options.ts'
import {
  ConfigError,
  configError,
  type Problem,
  problemAt,
  sortProblems,
} from '../../corefile/problem.ts'
import type { ServerBlock } from '../../corefile/server-block.ts'
import type { ZoneKey } from '../../corefile/zone-key.ts'
import { inSlices } from '../../dns/bytes/steps.ts'
import { formatName } from '../../dns/names/name.ts'
import { resolverSteps } from '../../resolver/chain/create-resolver.ts'
import type { Resolver } from '../../resolver/chain/resolver.ts'
import type { Upstream, UpstreamOptions } from '../../resolver/contract/host.ts'
import type { PluginHost } from '../../resolver/contract/plugin-entry.ts'
import { STANDARD_PORTS } from '../../resolver/contract/server-address.ts'
import { type GatewayKind, gatewayNotices, gatewayPlugins } from './gateway-plugins.ts'

/**
 * Compiles a gateway's Corefile for the plugins as they are at gateways, and has these read what
 * they answer from.
 * @throws {ConfigError} with all its errors, in order
 */
export async function compileGatewayCorefile(
  blocks: readonly ServerBlock[],
  host: PluginHost,
): Promise<Resolver> {
  const plugins = gatewayPlugins(host.plugins, kindOf(host))
  try {
    const resolver = await inSlices(resolverSteps(blocks, { ...host, plugins }), host)
    await resolver.prepare()
    return resolver
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError(sortProblems(error.problems, blocks[0]?.file ?? ''))
  }
}

/** Returns warnings of what a gateway ignores or takes in another way, in order. */
export function gatewayWarnings(blocks: readonly ServerBlock[], host: PluginHost): Problem[] {
  const notices = gatewayNotices(blocks, host.plugins, kindOf(host))
  return sortProblems([...notices, ...unreached(blocks)], blocks[0]?.file ?? '')
}

/** Only Workers isolate requests. */
function kindOf({ isolatesRequests }: PluginHost): GatewayKind {
  return isolatesRequests ? 'worker' : 'gateway'
}

/** Warns of zones at other ports: a gateway answers those of the first server block's port. */
function unreached(blocks: readonly ServerBlock[]): Problem[] {
  const placeOf = ({ transport, port }: ZoneKey): string =>
    `${transport}://:${port ?? STANDARD_PORTS[transport]}`
  const keys = blocks.flatMap((block) => block.keys)
  const [first] = keys
  const place = first && placeOf(first)
  return keys
    .filter((key) => placeOf(key) !== place)
    .map((key) => {
      const message = `a gateway answers the zones of ${place} only, where the Corefile begins`
      return problemAt(
        key,
        `"${formatName(key.zone)}" at ${placeOf(key)} gets no queries: ${message}`,
      )
    })
}

/**
 * Returns the cluster whose snapshots a directive reads.
 * @param clusters those that may publish; `undefined` when unknown
 * @throws {ConfigError} when the directive names none
 */
export function publishedCluster(options: KubernetesOptions, clusters?: readonly string[]): string {
  if (options.cluster !== undefined) return options.cluster
  const known = clusters === undefined ? '' : `; CLUSTERS has ${clusters.join(', ') || 'none'}`
  throw configError(options, `add the cluster to read: "cluster ID"${known}`)
}

/**
 * Returns the URL of an upstream that a Worker can query: it has no UDP and cannot choose
 * addresses.
 * @throws {Error} for any other upstream
 */
export function checkWorkerUpstream(
  { transport, url, serverName }: Upstream,
  { tls, sourceAddress, resolvers }: UpstreamOptions,
): string {
  if (transport !== 'https' || url === undefined) {
    throw new Error('a Worker queries upstreams over https:// only')
  }
  const isPlain = serverName === undefined && tls.ca === undefined && tls.cert === undefined
  if (!isPlain)
    throw new Error('a Worker cannot choose certificates: remove "tls" and "tls_servername"')
  if (sourceAddress !== undefined || resolvers.length > 0) {
    throw new Error('a Worker cannot choose addresses: remove "source_address" and "resolver"')
  }
  return url
}
