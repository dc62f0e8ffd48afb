/**
 * The zones that catalogs list, as these come, change hands and go (RFC 9432 §5).
 * @module
 */

import type { Host } from '../../chain/host.ts'
import { equalNames, formatName, isSubdomain, nameKey } from '../../dns/name.ts'
import type { ZoneData } from '../file/zone-data.ts'
import type { ZoneMap } from '../file/zone-map.ts'
import { type Member, readCatalog } from './catalog.ts'
import type { Primary } from './receive-zone.ts'
import type { SecondaryZone } from './secondary-zone.ts'

/** A catalog and what it may list. */
export type CatalogRule = {
  /** The catalog's own zone. */
  readonly origin: Uint8Array
  /** Where its members are had from. */
  readonly primaries: readonly Primary[]
  /** Zones that members must be in; none for any. */
  readonly allowed: readonly Uint8Array[]
}

/** Makes a zone, from what there is of it already. */
export type OpenZone = (
  zone: Uint8Array,
  primaries: readonly Primary[],
  data: ZoneData | undefined,
) => SecondaryZone

type Owned = { readonly catalog: Uint8Array; readonly id: string }

/** Keeps a block's zones as catalogs list them. */
export class CatalogZones {
  private readonly host: Host
  private readonly zones: ZoneMap<SecondaryZone>
  private readonly open: OpenZone
  /** Which catalog each listed zone belongs to. */
  private readonly owned = new Map<string, Owned>()
  /** Members of each catalog as it was read last. */
  private readonly catalogs = new Map<string, ReadonlyMap<string, Member>>()

  /** @param zones all zones of the block, those that the Corefile names among them */
  constructor(host: Host, zones: ZoneMap<SecondaryZone>, open: OpenZone) {
    this.host = host
    this.zones = zones
    this.open = open
  }

  /** Takes over what a catalog lists now; one that is wrong changes nothing. */
  take(rule: CatalogRule, zone: ZoneData): void {
    const catalog = readCatalog(zone)
    if (catalog.kind === 'wrong') {
      this.report('warning', `a catalog is not used: it ${catalog.reason}`, rule.origin)
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
        `${rejected} zones of a catalog are left out: they may not be in it`,
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
      this.report('warning', 'a catalog lists a zone that is here already', member.zone)
      return
    }
    if (equalNames(owned.catalog, rule.origin)) {
      if (owned.id !== member.id) this.replace(rule, key, member)
      return
    }
    const source = this.catalogs.get(nameKey(owned.catalog))?.get(key)
    if (source?.nextCatalog === undefined || !equalNames(source.nextCatalog, rule.origin)) {
      this.report('warning', 'a catalog lists a zone that belongs to another', member.zone)
      return
    }
    // Only what is still the same member goes over with its data.
    const isSame = owned.id === source.id && source.id === member.id
    this.replace(rule, key, member, isSame ? existing.zone : undefined)
  }

  private replace(rule: CatalogRule, key: string, member: Member, data?: ZoneData): void {
    this.zones.get(member.zone)?.stop()
    const zone = this.open(member.zone, rule.primaries, data)
    this.zones.set(member.zone, zone)
    this.owned.set(key, { catalog: rule.origin, id: member.id })
    this.report('info', 'a zone of a catalog is here', member.zone)
    zone.update()
  }

  private remove(key: string): void {
    this.owned.delete(key)
    for (const zone of this.zones.values()) {
      if (nameKey(zone.origin) !== key) continue
      zone.stop()
      this.zones.delete(zone.origin)
      this.report('info', 'a zone of a catalog is gone', zone.origin)
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
