/**
 * The records of a zone by name, with the names that exist only because of names below them.
 * @module
 */
import { concatBytes, equalBytes, toLatin1 } from '../../bytes/bytes.ts'
import type { ResourceRecord } from '../../dns/message.ts'
import { isSubdomain, labelOffsets, lowerName, nameKey } from '../../dns/name.ts'
import { nameEnd } from '../../dns/rdata-wire.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { coveredType, type NsecEntry, sortNsecs } from './signatures.ts'

/** A name that exists. */
export type ZoneNode = {
  readonly owner: Uint8Array
  /**
   * Its records by type, with signatures; none for an empty non-terminal. As in CoreDNS, without
   * the apex's SOA and NS records.
   */
  readonly sets: ReadonlyMap<number, readonly ResourceRecord[]>
}

/** A zone. */
export type ZoneData = {
  /** Absolute, in lower case. */
  readonly origin: Uint8Array
  readonly soa: ResourceRecord
  readonly soaSignatures: readonly ResourceRecord[]
  readonly nameservers: readonly ResourceRecord[]
  readonly nsSignatures: readonly ResourceRecord[]
  /** By `nameKey`; always has the apex. */
  readonly nodes: ReadonlyMap<string, ZoneNode>
  /** Names with an NSEC record, in canonical order (RFC 4034 §6.1). */
  readonly nsecs: readonly NsecEntry[]
  /** Number of ignored records: those outside of the zone. */
  readonly outsideCount: number
}

/** Size of a set beyond which an index finds duplicates. */
const SMALL_SET = 16

type NodeDraft = { readonly owner: Uint8Array; readonly sets: Map<number, ResourceRecord[]> }

/** Builds a zone, record by record. */
export class ZoneBuilder {
  private readonly origin: Uint8Array
  private soa: ResourceRecord | undefined
  private readonly soaSignatures: ResourceRecord[] = []
  private readonly nameservers: ResourceRecord[] = []
  private readonly nsSignatures: ResourceRecord[] = []
  private readonly nodes = new Map<string, NodeDraft>()
  private readonly known = new Map<readonly ResourceRecord[], Set<string>>()
  private outsideCount = 0

  constructor(origin: Uint8Array) {
    this.origin = lowerName(origin)
    this.nodes.set(nameKey(this.origin), { owner: this.origin, sets: new Map() })
  }

  /**
   * Adds a record. As in CoreDNS, any SOA record is the zone's, whatever its owner; owners of SRV
   * records and names in most rdata keep their letter case.
   */
  add(record: ResourceRecord): void {
    const own = inOwnCase(record)
    const { type, owner } = own
    const isApex = equalBytes(lowerName(owner), this.origin)
    const covered = type === TYPE.RRSIG ? coveredType(own) : 0
    if (type === TYPE.SOA) this.soa = own
    else if (!isSubdomain(owner, this.origin)) this.outsideCount++
    else if (covered === TYPE.SOA) this.append(this.soaSignatures, own)
    else if (isApex && type === TYPE.NS) this.append(this.nameservers, own)
    else if (isApex && covered === TYPE.NS) this.append(this.nsSignatures, own)
    else this.insert(own)
  }

  /** Returns the zone; `undefined` without an SOA record. */
  finish(): ZoneData | undefined {
    const { origin, soa, soaSignatures, nameservers, nsSignatures, nodes, outsideCount } = this
    if (soa === undefined) return undefined
    const nsecs = sortNsecs(nodes.values())
    const apex = { soa, soaSignatures, nameservers, nsSignatures }
    return { origin, ...apex, nodes, nsecs, outsideCount }
  }

  private insert(record: ResourceRecord): void {
    const { type } = record
    const { sets } = this.node(lowerName(record.owner))
    const set = sets.get(type)
    if (set === undefined) sets.set(type, [record])
    else this.append(set, record)
  }

  /** Finds or creates a node, and those above it up to the apex. */
  private node(owner: Uint8Array): NodeDraft {
    const key = toLatin1(owner)
    const known = this.nodes.get(key)
    if (known !== undefined) return known
    const made: NodeDraft = { owner, sets: new Map() }
    this.nodes.set(key, made)
    for (const at of labelOffsets(owner).slice(1)) {
      const above = key.slice(at)
      if (this.nodes.has(above)) break
      this.nodes.set(above, { owner: owner.subarray(at), sets: new Map() })
    }
    return made
  }

  /** Adds a record unless it is a duplicate (RFC 2181 §5). */
  private append(set: ResourceRecord[], record: ResourceRecord): void {
    if (set.length < SMALL_SET) {
      if (!set.some(({ rdata }) => equalBytes(rdata, record.rdata))) set.push(record)
      return
    }
    const known = this.known.get(set) ?? new Set(set.map(({ rdata }) => toLatin1(rdata)))
    this.known.set(set, known)
    const key = toLatin1(record.rdata)
    if (known.has(key)) return
    known.add(key)
    set.push(record)
  }
}

/** Lowers the letter case where CoreDNS does (plugin/file/zone.go, Insert). */
function inOwnCase(record: ResourceRecord): ResourceRecord {
  const { type, owner, rdata } = record
  if (type === TYPE.SRV) return record
  return { ...record, owner: lowerName(owner), rdata: foldNames(type, rdata) }
}

function foldNames(type: number, rdata: Uint8Array): Uint8Array {
  switch (type) {
    case TYPE.NS:
    case TYPE.CNAME:
      return lowerName(rdata)
    case TYPE.SOA:
      return foldPart(rdata, 0, nameEnd(rdata, nameEnd(rdata, 0)))
    case TYPE.MX:
    case TYPE.SVCB:
    case TYPE.HTTPS:
      return foldPart(rdata, 2, nameEnd(rdata, 2))
    default:
      return rdata
  }
}

function foldPart(rdata: Uint8Array, start: number, end: number): Uint8Array {
  const folded = lowerName(rdata.subarray(start, end))
  return concatBytes(rdata.subarray(0, start), folded, rdata.subarray(end))
}
