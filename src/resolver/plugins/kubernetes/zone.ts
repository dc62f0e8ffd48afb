/**
 * The zones of a `kubernetes` directive, prepared for answering.
 * @module
 */

import { isReverseZone, type KubernetesOptions } from '../../../corefile/kubernetes-options.ts'
import { asWordBytes, type SizedBytes } from '../../../dns/bytes/bytes.ts'
import { isSubdomain, ROOT } from '../../../dns/names/name.ts'
import { endsIn, type Query } from '../../../dns/wire/query.ts'

/** A zone that a directive answers. */
export type Zone = {
  readonly origin: SizedBytes
  readonly isReverse: boolean
  /** Whether the zone holds names that several clusters share. */
  readonly isMulticluster: boolean
  /** Whether wildcards in the snapshot match names below Services. */
  readonly hasWildcards: boolean
  /** Whether the server block has a cache, which in CoreDNS ignores letter case. */
  readonly hasCache: boolean
  /** Whether a client has queried NS with the zone's name in lower case. */
  hadNsQuery: boolean
}

/** All zones of a directive, the longest first. */
export type Zones = {
  readonly all: readonly Zone[]
  /** The first forward zone, the origin of PTR targets. */
  readonly home: SizedBytes
}

/** Prepares the zones of a directive. */
export function zonesOfDirective(
  { zones, multiclusterZones, naming }: KubernetesOptions,
  hasCache = false,
): Zones {
  const all = zones.map((origin): Zone => {
    const isReverse = isReverseZone(origin)
    const isShared = multiclusterZones.some((zone) => isSubdomain(origin, zone))
    const isMulticluster = isShared && !isReverse
    const hasWildcards = naming === 'openshift3' && !isMulticluster
    const names = { origin: asWordBytes(origin), isReverse, isMulticluster, hasWildcards }
    return { ...names, hasCache, hadNsQuery: false }
  })
  const home = all.find(({ isReverse }) => !isReverse)?.origin ?? asWordBytes(ROOT)
  return { all: all.sort((a, b) => b.origin.size - a.origin.size), home }
}

/**
 * Returns the longest zone that contains the query name and passes the filter; `undefined` for
 * none. Allocates nothing.
 */
export function zoneOf(
  { all }: Zones,
  query: Query,
  counts?: (zone: Zone) => boolean,
): Zone | undefined {
  for (let i = 0; i < all.length; i++) {
    const zone = all[i]
    if (zone === undefined || !endsIn(query, zone.origin)) continue
    if (counts === undefined || counts(zone)) return zone
  }
  return undefined
}
