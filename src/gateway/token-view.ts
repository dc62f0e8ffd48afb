/**
 * What the owner of a token sees.
 * @module
 */
import { formatName } from '../dns/name.ts'
import type { View } from '../plugins/plugin.ts'
import { Visibility } from '../snapshot/visibility.ts'
import { matcherOf, namespaceMatcherOf, type TokenScope } from './token.ts'

/** Makes the view of a scope. */
export function viewOf(scope: TokenScope): View {
  const seesCluster = matcherOf(scope.clusters)
  const seesName = matcherOf(scope.origins)
  const seesNamespace = namespaceMatcherOf(scope.namespaces)
  const known = new Map<Uint8Array, Map<string | undefined, boolean>>()
  return {
    id: JSON.stringify(scope),
    seesOrigin: (cluster, origin) => {
      // The origins are those of the configuration, a few objects that live as long as it does.
      let byCluster = known.get(origin)
      if (byCluster === undefined) {
        byCluster = new Map()
        known.set(origin, byCluster)
      }
      const before = byCluster.get(cluster)
      if (before !== undefined) return before
      const hasCluster = cluster === undefined || seesCluster(cluster)
      const isSeen = hasCluster && seesName(formatName(origin))
      byCluster.set(cluster, isSeen)
      return isSeen
    },
    namespaces: scope.namespaces.includes('*') ? undefined : new Visibility(seesNamespace),
    mayRecurse: scope.recurse,
  }
}
