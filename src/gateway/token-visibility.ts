/**
 * What the client of a token may see: clusters, origins, namespaces and names.
 * @module
 */
import { asWordBytes } from '../bytes/bytes.ts'
import type { ClientVisibility } from '../chain/client.ts'
import { formatName, parseName } from '../dns/name.ts'
import { endsIn, type Query } from '../dns/query.ts'
import { Visibility } from '../snapshot/read/visibility.ts'
import { matcherOf, namespaceMatcherOf, type TokenScope } from './token.ts'

/** Returns the visibility of a scope. */
export function visibilityOf(scope: TokenScope): ClientVisibility {
  const seesCluster = matcherOf(scope.clusters)
  const seesName = matcherOf(scope.origins)
  const seesNamespace = namespaceMatcherOf(scope.namespaces)
  const known = new Map<Uint8Array, Map<string | undefined, boolean>>()
  return {
    id: JSON.stringify(scope),
    seesOrigin: (cluster, origin) => {
      // Origins come from the configuration: few objects, which live as long as the process.
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
    seesName: nameMatcherOf(scope.origins),
    namespaces: scope.namespaces.includes('*') ? undefined : new Visibility(seesNamespace),
    mayRecurse: scope.recurse,
  }
}

/** Returns a function that tests whether a query name is at or below a matching name. */
function nameMatcherOf(patterns: readonly string[]): ClientVisibility['seesName'] {
  if (patterns.includes('*')) return () => true
  const zones = patterns.flatMap((pattern) => {
    const name = pattern.includes('*') ? undefined : parseName(pattern)
    return name === undefined ? [] : [asWordBytes(name)]
  })
  const wide = patterns.filter((pattern) => pattern.includes('*'))
  const fits = matcherOf(wide)
  return (query) =>
    zones.some((zone) => endsIn(query, zone)) ||
    (wide.length > 0 && namesFrom(query).some((name) => fits(name)))
}

/** Returns a query name and all names above it as text. */
function namesFrom({ name, nameBytes, labels, labelCount }: Query): string[] {
  const starts = [...labels.subarray(0, labelCount), nameBytes - 1]
  return starts.map((start) => formatName(name.subarray(start, nameBytes)))
}
