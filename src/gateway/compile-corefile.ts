/**
 * A gateway's Corefile: what it can say beside a server's, and what it cannot.
 * @module
 */

import { createResolver } from '../chain/create-resolver.ts'
import type { Host, Upstream, UpstreamOptions } from '../chain/host.ts'
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

/** Directives about sockets and reloads, which are not the Corefile's in a gateway. */
const OF_SERVERS: ReadonlySet<string> = new Set(
  'bind health https ready reload timeouts tls'.split(' '),
)

/** Compiles a gateway's Corefile. @throws {ConfigError} with all that is wrong in it */
export function compileGatewayCorefile(blocks: readonly ServerBlock[], host: Host): Resolver {
  const problems: Problem[] = blocks.flatMap(({ directives }) =>
    directives.flatMap((directive) => {
      const { name } = directive
      if (!OF_SERVERS.has(name) || !host.plugins.has(name)) return []
      const message =
        `"${name}" has no meaning in a gateway, which has /healthz and /readyz and is told of ` +
        'changes; leave it out'
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
 * @param clusters those that may publish; `undefined` when they are not known
 * @throws {ConfigError} when there is none
 */
export function publishedCluster(
  options: KubernetesOptions,
  tree: ClusterTree,
  clusters?: readonly string[],
): string {
  if (tree.kind === 'external' || tree.kind === 'hosts') {
    throw configError(options, 'names of this kind are not published to gateways; leave them out')
  }
  if (options.cluster !== undefined) return options.cluster
  const known = clusters === undefined ? '' : `, with one of ${clusters.join(', ') || 'none'}`
  throw configError(options, `say which cluster: "cluster ID"${known}`)
}

/**
 * Returns the URL by which a Worker queries an upstream: it has no UDP and chooses no addresses.
 * @throws {Error} when a Worker cannot query it
 */
export function checkWorkerUpstream(
  { url, serverName }: Upstream,
  { tls, sourceAddress, resolvers }: UpstreamOptions,
): string {
  if (url === undefined) throw new Error('a Worker reaches upstreams over https:// only')
  const isPlain = serverName === undefined && tls.ca === undefined && tls.cert === undefined
  if (!isPlain) throw new Error('a Worker chooses no certificates: leave out "tls" and its name')
  if (sourceAddress !== undefined || resolvers.length > 0) {
    throw new Error('a Worker chooses no addresses: leave out "source_address" and "resolver"')
  }
  return url
}
