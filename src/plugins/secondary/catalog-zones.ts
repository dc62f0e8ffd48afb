/**
 * Adds, moves and removes the zones that catalogs list (RFC 9432 §5).
 * @module
 */

import type { Host } from '../../chain/host.ts'
import { equalNames, formatName, isSubdomain, nameKey } from '../../dns/name.ts'
import type { ZoneData } from '../file/zone-data.ts'
import type { ZoneMap } from '../file/zone-hooks.ts'
import { type Member, readCatalog } from './catalog.ts'
import type { Primary } from './receive-zone.ts'
import type { SecondaryZone } from './secondary-zone.ts'

/** A catalog and the zones that it may list. */
export type CatalogRule = {
  readonly origin: Uint8Array
  /** The primaries of its members. */
  readonly primaries: readonly Primary[]
  /** Zones that must contain the members; empty for any. */
  readonly allowed: readonly Uint8Array[]
}

/** Creates a zone, starting from its previous data if there is some. */
export type OpenZone = (
  zone: Uint8Array,
  primaries: readonly Primary[],
  data: ZoneData | undefined,
) => SecondaryZone

type Owned = { readonly catalog: Uint8Array; readonly id: string }

/** Keeps a block's zones in step with its catalogs. */
export class CatalogZones {
  private readonly host: Host
  private readonly zones: ZoneMap<SecondaryZone>
  private readonly open: OpenZone
  /** The catalog of each listed zone. */
  private readonly owned = new Map<string, Owned>()
  /** The members of each catalog as of its last valid version. */
  private readonly catalogs = new Map<string, ReadonlyMap<string, Member>>()

  /** @param zones all zones of the block, including those in the Corefile */
  constructor(host: Host, zones: ZoneMap<SecondaryZone>, open: OpenZone) {
    this.host = host
    this.zones = zones
    this.open = open
  }

  /** Applies a catalog's current members; an invalid catalog changes nothing. */
  take(rule: CatalogRule, zone: ZoneData): void {
    const catalog = readCatalog(zone)
    if (catalog.kind === 'wrong') {
      this.report('warning', `a catalog is ignored: it ${catalog.reason}`, rule.origin)
      return
    }
    const { allowed, origin } = rule
    const members = new Map(catalog.members.map((member) => [nameKey(member.zone), member]))
    this.catalogs.set(nameKey(origin), members)
    let rejected = 0
    for (const [key, member] of members) {
      if (isAllowed(allowed, member)) this.place(rule, key, member)
      else rejected++
    }
    for (const [key, { catalog: owner }] of this.owned) {
      const member = members.get(key)
      if (!equalNames(owner, origin) || (member !== undefined && isAllowed(allowed, member)))
        continue
      this.remove(key)
    }
    if (rejected > 0) {
      this.report(
        'warning',
        `${rejected} zones of a catalog are ignored: it may not list them`,
        origin,
      )
    }
  }

  private place(rule: CatalogRule, key: string, member: Member): void {
    const existing = this.zones.get(member.zone)
    const owned = this.owned.get(key)
    if (existing === undefined) {
      this.replace(rule, key, member)
      return
    }
    if (owned === undefined) {
      this.report('warning', 'a catalog lists a zone that the Corefile defines', member.zone)
      return
    }
    if (equalNames(owned.catalog, rule.origin)) {
      if (owned.id !== member.id) this.replace(rule, key, member)
      return
    }
    const source = this.catalogs.get(nameKey(owned.catalog))?.get(key)
    if (source?.nextCatalog === undefined || !equalNames(source.nextCatalog, rule.origin)) {
      this.report('warning', 'a catalog lists a zone of another catalog', member.zone)
      return
    }
    // Only an unchanged member keeps its data when it moves.
    const isSame = owned.id === source.id && source.id === member.id
    this.replace(rule, key, member, isSame ? existing.zone : undefined)
  }

  private replace(rule: CatalogRule, key: string, member: Member, data?: ZoneData): void {
    this.zones.get(member.zone)?.stop()
    const zone = this.open(member.zone, rule.primaries, data)
    this.zones.set(member.zone, zone)
    this.owned.set(key, { catalog: rule.origin, id: member.id })
    this.report('info', 'a catalog added a zone', member.zone)
    zone.update()
  }

  private remove(key: string): void {
    this.owned.delete(key)
    for (const zone of this.zones.values()) {
      if (nameKey(zone.origin) !== key) continue
      zone.stop()
      this.zones.delete(zone.origin)
      this.report('info', 'a catalog removed a zone', zone.origin)
      return
    }
  }

  private report(level: 'info' | 'warning', message: string, zone: Uint8Array): void {
    this.host.log({ level, message, zone: formatName(zone) })
  }
}

function isAllowed(allowed: readonly Uint8Array[], { zone }: Member): boolean {
  return allowed.length === 0 || allowed.some((parent) => isSubdomain(zone, parent))
}
