/**
 * Parses catalog zones (RFC 9432 §4), and adds, moves and removes the zones that they list (§5).
 * @module
 */
import { byteAt, toLatin1 } from '../../../dns/bytes/bytes.ts'
import type { Steps } from '../../../dns/bytes/steps.ts'
import {
  equalNames,
  formatName,
  isSubdomain,
  joinName,
  labelOffsets,
  lowerName,
  nameKey,
  nameOf,
} from '../../../dns/names/name.ts'
import { CLASS } from '../../../dns/names/rr-class.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { Host } from '../../contract/host.ts'
import type { ZoneMap } from '../file/serve-zone.ts'
import type { ZoneData } from '../file/zone-data.ts'
import type { ZoneNode } from '../file/zone-nodes.ts'
import type { Primary } from './receive-zone.ts'
import type { SecondaryZone } from './secondary-zone.ts'

/** A catalog and the zones that it may list. */
type CatalogRule = {
  readonly origin: Uint8Array
  readonly primaries: readonly Primary[]
  /** Zones that must contain the members; empty for any. */
  readonly allowed: readonly Uint8Array[]
}

/** Creates a zone, starting from its previous data if there is some. */
type OpenZone = (
  zone: Uint8Array,
  primaries: readonly Primary[],
  data: ZoneData | undefined,
) => SecondaryZone

type Owned = { readonly catalog: Uint8Array; readonly id: string; readonly zone: Uint8Array }

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

  /**
   * Applies a catalog's current members, one in each step; an invalid catalog changes nothing.
   * Calls must not overlap.
   */
  *take(rule: CatalogRule, zone: ZoneData): Steps<void> {
    const catalog = yield* readCatalog(zone)
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
      yield
    }
    for (const [key, { catalog: owner }] of this.owned) {
      yield
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
    this.owned.set(key, { catalog: rule.origin, id: member.id, zone: member.zone })
    this.report('info', 'a catalog added a zone', member.zone)
    zone.update()
  }

  private remove(key: string): void {
    const owned = this.owned.get(key)
    this.owned.delete(key)
    const zone = owned && this.zones.get(owned.zone)
    if (zone === undefined) return
    zone.stop()
    this.zones.delete(zone.origin)
    this.report('info', 'a catalog removed a zone', zone.origin)
  }

  private report(level: 'info' | 'warning', message: string, zone: Uint8Array): void {
    this.host.log({ level, message, zone: formatName(zone) })
  }
}

function isAllowed(allowed: readonly Uint8Array[], { zone }: Member): boolean {
  return allowed.length === 0 || allowed.some((parent) => isSubdomain(zone, parent))
}

type Member = {
  /** Its label in the catalog, as Latin-1 text; a changed label means a new zone (§5.4). */
  readonly id: string
  /** Absolute, in lower case. */
  readonly zone: Uint8Array
  /** The catalog that it may move to (§4.4.1), absolute, in lower case. */
  readonly nextCatalog: Uint8Array | undefined
}

/** The members of a catalog, or the reason why it is invalid. */
type Catalog =
  | { readonly kind: 'catalog'; readonly members: readonly Member[] }
  | { readonly kind: 'wrong'; readonly reason: string }

const MEMBERS_MAX = 100_000
/** TXT data of the supported version, `2` (§4.2.1). */
const VERSION = '\x012'
const VERSION_OWNER = labels('version')
const ZONES_OWNER = labels('zones')
const OWNERSHIP_OWNER = labels('coo')

/** Parses a catalog, a name in each step. One error makes the whole catalog invalid. */
export function* readCatalog(zone: ZoneData): Steps<Catalog> {
  const { origin, nodes, nameservers } = zone
  if (nameservers.length === 0) return wrong('has no NS record')
  const version = at(nodes, VERSION_OWNER, origin)?.sets.get(TYPE.TXT) ?? []
  const [only, ...others] = version.map(({ rdata }) => toLatin1(rdata))
  if (only === undefined || others.length > 0) return wrong('needs one TXT record at "version"')
  if (only !== VERSION) return wrong('has a version other than 2')
  const parent = joinName(ZONES_OWNER, origin)
  const members = new Map<string, Member>()
  for (const node of nodes.values()) {
    yield
    if (hasOtherClass(node)) return wrong(`has records of a class other than IN`)
    if (parent === undefined || !isChild(node.owner, parent)) continue
    const read = readMember(zone, node)
    if (read === undefined) continue
    if (typeof read === 'string') return wrong(read)
    const key = nameKey(read.zone)
    if (members.has(key)) return wrong(`lists "${formatName(read.zone)}" twice`)
    members.set(key, read)
    if (members.size > MEMBERS_MAX) return wrong(`lists over ${MEMBERS_MAX} zones`)
  }
  return { kind: 'catalog', members: [...members.values()] }
}

/** Parses the entry `<id>.zones.<catalog>`; `undefined` if it lists no zone. */
function readMember({ nodes }: ZoneData, node: ZoneNode): Member | string | undefined {
  const [target, another] = node.sets.get(TYPE.PTR) ?? []
  if (target === undefined) return undefined
  const name = formatName(node.owner)
  if (another !== undefined) return `has two PTR records at "${name}"`
  const [next, second] = at(nodes, OWNERSHIP_OWNER, node.owner)?.sets.get(TYPE.PTR) ?? []
  if (second !== undefined) return `has two PTR records at "coo.${name}"`
  return {
    id: toLatin1(node.owner.subarray(1, 1 + byteAt(node.owner, 0))),
    zone: lowerName(target.rdata),
    nextCatalog: next && lowerName(next.rdata),
  }
}

function at(
  nodes: ZoneData['nodes'],
  relative: Uint8Array,
  origin: Uint8Array,
): ZoneNode | undefined {
  const name = joinName(relative, origin)
  return name && nodes.get(lowerName(name))
}

function isChild(name: Uint8Array, parent: Uint8Array): boolean {
  const second = labelOffsets(name)[1] ?? name.length - 1
  return (
    name.length - second === parent.length && toLatin1(name.subarray(second)) === toLatin1(parent)
  )
}

function hasOtherClass({ sets }: ZoneNode): boolean {
  for (const set of sets.values()) if (set.some((record) => record.class !== CLASS.IN)) return true
  return false
}

function labels(text: string): Uint8Array {
  return nameOf(text).slice(0, -1)
}

function wrong(reason: string): Catalog {
  return { kind: 'wrong', reason }
}
