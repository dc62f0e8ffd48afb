/**
 * The zones of a plugin that answers from one cluster, as far as clients see them.
 * @module
 */

import { isSubdomain } from '../../../dns/names/name.ts'
import { isWithinZone, type Query } from '../../../dns/wire/query.ts'
import type { ClientVisibility } from '../../contract/client.ts'

/** Zones of one cluster. */
export class SeenZones {
  /** The longest first. */
  private readonly zones: readonly Uint8Array[]
  private readonly cluster: string | undefined

  /** @param cluster its identifier; `undefined` for a watched cluster */
  constructor(zones: readonly Uint8Array[], cluster: string | undefined) {
    this.zones = zones.toSorted((a, b) => b.length - a.length)
    this.cluster = cluster
  }

  /** Returns the closest zone above a query name that the client sees; everything by default. */
  closest(query: Query, visibility?: ClientVisibility): Uint8Array | undefined {
    return this.zones.find(
      (zone) => isWithinZone(query, zone) && visibility?.seesOrigin(this.cluster, zone) !== false,
    )
  }

  /** Returns what `Plugin.hides` does. */
  hides(visibility: ClientVisibility, query: Query, blockZone: Uint8Array): boolean {
    const zone = this.closest(query)
    if (zone === undefined || this.closest(query, visibility) !== undefined) return false
    return isSubdomain(blockZone, zone)
  }
}
