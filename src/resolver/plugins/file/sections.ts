/**
 * The response of a zone, and the sections that most responses have.
 * @module
 */

import { isSubdomain, lowerName, nameKey } from '../../../dns/names/name.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { ResourceRecord } from '../../../dns/wire/message.ts'
import { nameEnd } from '../../../dns/wire/rdata-wire.ts'
import { signedRecords } from './signatures.ts'
import type { ZoneData } from './zone-data.ts'
import type { ZoneNode } from './zone-nodes.ts'

/** The response of a zone. */
export type ZoneAnswer = {
  /**
   * - `found`: the answer section has records of the type, or a CNAME chain
   * - `nodata`: the name has no records of the type
   * - `empty`: the name is an empty non-terminal
   * - `absent`: the name, or that at the end of its CNAMEs, does not exist
   * - `referral`: the name belongs to a delegated zone
   * - `failure`: the target of a CNAME or DNAME failed
   * - `too-long`: a DNAME yields a name over 255 bytes (RFC 6672 §2.2)
   */
  readonly kind: 'found' | 'nodata' | 'empty' | 'absent' | 'referral' | 'failure' | 'too-long'
  readonly answer: readonly ResourceRecord[]
  readonly authority: readonly ResourceRecord[]
  readonly additional: readonly ResourceRecord[]
  /** Whether a part of it comes from a snapshot. */
  readonly isLive: boolean
  readonly truncated: boolean
}

/** A response without records. */
export const NO_RECORDS: Omit<ZoneAnswer, 'kind'> = {
  answer: [],
  authority: [],
  additional: [],
  isLive: false,
  truncated: false,
}

/** Returns the authority section of a positive response. */
export function authorityOf(zone: ZoneData, wantsDnssec: boolean): readonly ResourceRecord[] {
  return wantsDnssec ? [...zone.nameservers, ...zone.nsSignatures] : zone.nameservers
}

/** Returns the authority section of a negative response (RFC 2308 §3). */
export function negativeAuthority(zone: ZoneData, wantsDnssec: boolean): readonly ResourceRecord[] {
  return wantsDnssec ? [zone.soa, ...zone.soaSignatures] : [zone.soa]
}

/** Returns a referral below a zone cut, with DS records or a proof that there are none. */
export function referral(zone: ZoneData, { sets }: ZoneNode, wantsDnssec: boolean): ZoneAnswer {
  const nameservers = sets.get(TYPE.NS) ?? []
  const additional = glueOf(zone, nameservers, wantsDnssec)
  const signed = wantsDnssec
    ? signedRecords(sets, sets.has(TYPE.DS) ? TYPE.DS : TYPE.NSEC, true)
    : []
  const authority = [...nameservers, ...signed]
  return { ...NO_RECORDS, kind: 'referral', authority, additional }
}

/** Lists the addresses of the records' targets within the zone, each target once. */
export function additionalAddresses(
  zone: ZoneData,
  records: readonly ResourceRecord[],
  wantsDnssec: boolean,
): ResourceRecord[] {
  const hosts = new Map<string, Uint8Array>()
  for (const record of records) {
    const host = hostOf(record)
    if (host !== undefined && isSubdomain(host, zone.origin))
      hosts.set(nameKey(host), lowerName(host))
  }
  return [...hosts.values()].flatMap((host) => addressesOf(zone, host, wantsDnssec))
}

/** Lists the addresses of name servers within the zone that they serve. */
export function glueOf(
  zone: ZoneData,
  nameservers: readonly ResourceRecord[],
  wantsDnssec: boolean,
): ResourceRecord[] {
  return nameservers.flatMap(({ type, owner, rdata }) =>
    type === TYPE.NS && isSubdomain(rdata, owner)
      ? addressesOf(zone, lowerName(rdata), wantsDnssec)
      : [],
  )
}

function addressesOf(zone: ZoneData, host: Uint8Array, wantsDnssec: boolean): ResourceRecord[] {
  const sets = zone.nodes.get(host)?.sets
  if (sets === undefined) return []
  return [TYPE.A, TYPE.AAAA].flatMap((type) => [...signedRecords(sets, type, wantsDnssec)])
}

function hostOf({ type, rdata }: ResourceRecord): Uint8Array | undefined {
  switch (type) {
    case TYPE.SRV:
      return rdata.subarray(6)
    case TYPE.MX:
      return rdata.subarray(2)
    case TYPE.SVCB:
    case TYPE.HTTPS:
      return rdata.subarray(2, nameEnd(rdata, 2))
    default:
      return undefined
  }
}
