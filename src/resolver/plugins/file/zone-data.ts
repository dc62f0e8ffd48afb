/**
 * The records of a zone by name, with the names that exist only because of names below them.
 * @module
 */

import { concatBytes, equalBytes, toLatin1 } from '../../../dns/bytes/bytes.ts'
import type { Steps } from '../../../dns/bytes/steps.ts'
import { isSubdomain, lowerName } from '../../../dns/names/name.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { ResourceRecord } from '../../../dns/wire/message.ts'
import { nameEnd } from '../../../dns/wire/rdata-wire.ts'
import type { NameEntry } from '../../plugin-kit/name-lists.ts'
import { type NsecNames, sortNsecs } from './nsec-names.ts'
import { coveredType, ZoneNodes } from './zone-nodes.ts'

/** A zone. */
export type ZoneData = {
  /** Absolute, in lower case. */
  readonly origin: Uint8Array
  readonly soa: ResourceRecord
  readonly soaSignatures: readonly ResourceRecord[]
  readonly nameservers: readonly ResourceRecord[]
  readonly nsSignatures: readonly ResourceRecord[]
  /** Always has the apex. */
  readonly nodes: ZoneNodes
  /** The names with an NSEC record. */
  readonly nsecs: NsecNames
  /** Number of ignored records: those outside of the zone. */
  readonly outsideCount: number
}

/** Builds a zone, record by record. */
export class ZoneBuilder {
  private readonly origin: Uint8Array
  private soa: ResourceRecord | undefined
  private readonly soaSignatures = new ApexSet()
  private readonly nameservers = new ApexSet()
  private readonly nsSignatures = new ApexSet()
  private readonly nodes: ZoneNodes
  private readonly nsecs: NameEntry[] = []
  private outsideCount = 0

  constructor(origin: Uint8Array) {
    this.origin = lowerName(origin)
    this.nodes = new ZoneNodes(this.origin)
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
    else if (covered === TYPE.SOA) this.soaSignatures.add(own)
    else if (isApex && type === TYPE.NS) this.nameservers.add(own)
    else if (isApex && covered === TYPE.NS) this.nsSignatures.add(own)
    else {
      const entry = this.nodes.addRecord(own)
      if (type === TYPE.NSEC) this.nsecs.push(entry)
    }
  }

  /** Returns the zone; `undefined` without an SOA record. Its steps take a millisecond at most. */
  *finish(): Steps<ZoneData | undefined> {
    const { origin, soa, nodes, outsideCount } = this
    if (soa === undefined) return undefined
    return {
      origin,
      soa,
      soaSignatures: this.soaSignatures.records,
      nameservers: this.nameservers.records,
      nsSignatures: this.nsSignatures.records,
      nodes,
      nsecs: yield* sortNsecs(nodes, this.nsecs),
      outsideCount,
    }
  }
}

/** A set of records of the apex, which are few unless somebody means harm. */
class ApexSet {
  readonly records: ResourceRecord[] = []
  private readonly known = new Set<string>()

  /** Adds a record unless it is a duplicate (RFC 2181 §5). */
  add(record: ResourceRecord): void {
    const key = toLatin1(record.rdata)
    if (!this.known.has(key)) this.records.push(record)
    this.known.add(key)
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
