/**
 * The zones of a `kubernetes` directive, as answering needs them.
 * @module
 */

import { asWordBytes, type SizedBytes } from '../../bytes/bytes.ts'
import { isReverseZone, type KubernetesOptions } from '../../corefile/kubernetes-options.ts'
import { isSubdomain, ROOT } from '../../dns/name.ts'
import { endsIn, type Query } from '../../dns/query.ts'

/** A zone that a directive answers. */
export type Zone = {
  readonly origin: SizedBytes
  readonly isReverse: boolean
  /** Whether it has the names that several clusters have together. */
  readonly isMulticluster: boolean
  /** Whether wildcards of the snapshot stand for names below Services. */
  readonly hasWildcards: boolean
  /** Whether its server block has a cache, in which CoreDNS finds answers in any letter case. */
  readonly hasCache: boolean
  /** Whether a query was for its NS records by its name in lower case. */
  wasNsAsked: boolean
}

/** All zones of a directive, the longest first. */
export type Zones = {
  readonly all: readonly Zone[]
  /** The first forward zone, which names from addresses are below. */
  readonly home: SizedBytes
}

/** Prepares a directive's zones. */
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
    return { ...names, hasCache, wasNsAsked: false }
  })
  const home = all.find(({ isReverse }) => !isReverse)?.origin ?? asWordBytes(ROOT)
  return { all: all.sort((a, b) => b.origin.size - a.origin.size), home }
}

/**
 * Finds the zone that a query's name is in, the longest of those that count; `undefined` when it is
 * in none. Allocates nothing.
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
