/**
 * Compiles a gateway's Corefile, and refuses what only a server or only Node can do.
 * @module
 */

import { createResolver } from '../chain/create-resolver.ts'
import type { Upstream, UpstreamOptions } from '../chain/host.ts'
import type { PluginHost } from '../chain/plugin-entry.ts'
import type { Resolver } from '../chain/resolver.ts'
import type { ClusterTree } from '../corefile/cluster-tree.ts'
import type { KubernetesOptions } from '../corefile/kubernetes-options.ts'
import {
  ConfigError,
  configError,
  type Problem,
  problemAt,
  sortProblems,
} from '../corefile/problem.ts'
import type { ServerBlock } from '../corefile/server-block.ts'

/** Directives about sockets and reloads, which a gateway configures by other means. */
const OF_SERVERS: ReadonlySet<string> = new Set(
  'bind health https ready reload timeouts tls'.split(' '),
)

/** Compiles a gateway's Corefile. @throws {ConfigError} with all its errors */
export function compileGatewayCorefile(blocks: readonly ServerBlock[], host: PluginHost): Resolver {
  const problems: Problem[] = blocks.flatMap(({ directives }) =>
    directives.flatMap((directive) => {
      const { name } = directive
      if (!OF_SERVERS.has(name) || !host.plugins.has(name)) return []
      const message =
        `"${name}" has no effect in a gateway, which serves /healthz and /readyz and reloads by ` +
        'itself; remove it'
      return [problemAt(directive, message)]
    }),
  )
  try {
    const resolver = createResolver(blocks, host)
    if (problems.length === 0) return resolver
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    problems.push(...error.problems)
  }
  throw new ConfigError(sortProblems(problems, blocks[0]?.file ?? ''))
}

/**
 * Returns the cluster whose snapshots a directive reads.
 * @param clusters those that may publish; `undefined` when unknown
 * @throws {ConfigError} when the directive names none
 */
export function publishedCluster(
  options: KubernetesOptions,
  tree: ClusterTree,
  clusters?: readonly string[],
): string {
  if (tree.kind === 'external' || tree.kind === 'hosts') {
    throw configError(options, 'names of this kind are not published to gateways; remove them')
  }
  if (options.cluster !== undefined) return options.cluster
  const known = clusters === undefined ? '' : `, with one of ${clusters.join(', ') || 'none'}`
  throw configError(options, `add the cluster to read: "cluster ID"${known}`)
}

/**
 * Returns the URL of an upstream that a Worker can query: it has no UDP and cannot choose
 * addresses.
 * @throws {Error} for any other upstream
 */
export function checkWorkerUpstream(
  { url, serverName }: Upstream,
  { tls, sourceAddress, resolvers }: UpstreamOptions,
): string {
  if (url === undefined) throw new Error('a Worker queries upstreams over https:// only')
  const isPlain = serverName === undefined && tls.ca === undefined && tls.cert === undefined
  if (!isPlain)
    throw new Error('a Worker cannot choose certificates: remove "tls" and "tls_servername"')
  if (sourceAddress !== undefined || resolvers.length > 0) {
    throw new Error('a Worker cannot choose addresses: remove "source_address" and "resolver"')
  }
  return url
}
