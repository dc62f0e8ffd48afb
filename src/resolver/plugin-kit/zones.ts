/**
 * Zones of a plugin: the closest above a name, and those with `fallthrough`.
 * @module
 */
import { isSubdomain } from '../../dns/names/name.ts'
import { isWithinZone, type Query } from '../../dns/wire/query.ts'

/** Returns the longest of some zones that a name is in. */
export function closestZone(
  zones: readonly Uint8Array[],
  name: Uint8Array,
): Uint8Array | undefined {
  let closest: Uint8Array | undefined
  for (const zone of zones) {
    const isLonger = closest === undefined || zone.length > closest.length
    if (isLonger && isSubdomain(name, zone)) closest = zone
  }
  return closest
}

/** Returns the index of the first zone that a query name is in; -1 for none. Allocates nothing. */
export function closestZoneIndex(zones: readonly Uint8Array[], query: Query): number {
  for (let i = 0; i < zones.length; i++) {
    const zone = zones[i]
    if (zone !== undefined && isWithinZone(query, zone)) return i
  }
  return -1
}

/** Zones whose unknown names go on to the next plugin; `undefined` for none. */
export type Fallthrough = readonly Uint8Array[] | undefined

/** Whether an unknown name goes on to the next plugin. */
export function fallsThrough(zones: Fallthrough, name: Uint8Array): boolean {
  return zones !== undefined && closestZone(zones, name) !== undefined
}
