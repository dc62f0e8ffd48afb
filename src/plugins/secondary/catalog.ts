/**
 * Parses catalog zones: zones that list zones (RFC 9432 §4).
 * @module
 */
import { byteAt, toLatin1 } from '../../bytes/bytes.ts'
import { formatName, joinName, labelOffsets, lowerName, nameKey, nameOf } from '../../dns/name.ts'
import { CLASS } from '../../dns/rr-class.ts'
import { TYPE } from '../../dns/rr-type.ts'
import type { ZoneData, ZoneNode } from '../file/zone-data.ts'

/** A zone that a catalog lists. */
export type Member = {
  /** Its label in the catalog, as Latin-1 text; a changed label means a new zone (§5.4). */
  readonly id: string
  /** Absolute, in lower case. */
  readonly zone: Uint8Array
  /** The catalog that it may move to (§4.4.1), absolute, in lower case. */
  readonly nextCatalog: Uint8Array | undefined
}

/** The members of a catalog, or the reason why it is invalid. */
export type Catalog =
  | { readonly kind: 'catalog'; readonly members: readonly Member[] }
  | { readonly kind: 'wrong'; readonly reason: string }

/** Members of one catalog. */
const MEMBERS_MAX = 100_000
/** TXT data of the supported version, `2` (§4.2.1). */
const VERSION = '\x012'
const VERSION_OWNER = labels('version')
const ZONES_OWNER = labels('zones')
const OWNERSHIP_OWNER = labels('coo')

/** Parses a catalog. One error makes the whole catalog invalid. */
export function readCatalog(zone: ZoneData): Catalog {
  const { origin, nodes, nameservers } = zone
  if (nameservers.length === 0) return wrong('has no NS record')
  const version = at(nodes, VERSION_OWNER, origin)?.sets.get(TYPE.TXT) ?? []
  const [only, ...others] = version.map(({ rdata }) => toLatin1(rdata))
  if (only === undefined || others.length > 0) return wrong('needs one TXT record at "version"')
  if (only !== VERSION) return wrong('has a version other than 2')
  const parent = joinName(ZONES_OWNER, origin)
  const members = new Map<string, Member>()
  for (const node of nodes.values()) {
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
  return name && nodes.get(nameKey(name))
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
