/**
 * What a zone says, and the sections that most of its answers have.
 * @module
 */
import type { ResourceRecord } from '../../dns/message.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { glueOf } from './additional-section.ts'
import { recordsOf } from './signatures.ts'
import type { ZoneData, ZoneNode } from './zone-data.ts'

/** What a zone says. */
export type ZoneAnswer = {
  /**
   * - `found`: the answer section has what was asked, or at least the way there
   * - `nodata`: the name has no records of the type
   * - `empty`: the name is there only because of names below it
   * - `absent`: the name, or that at the end of its CNAMEs, does not exist
   * - `referral`: another server knows
   * - `failure`: a CNAME could not be followed
   * - `too-long`: a redirection makes a name over 255 bytes (RFC 6672 §2.2)
   */
  readonly kind: 'found' | 'nodata' | 'empty' | 'absent' | 'referral' | 'failure' | 'too-long'
  readonly answer: readonly ResourceRecord[]
  readonly authority: readonly ResourceRecord[]
  readonly additional: readonly ResourceRecord[]
  /** Whether a part of it is live data of the cluster. */
  readonly isLive: boolean
  readonly truncated: boolean
}

/** An answer without records, to begin from. */
export const NO_RECORDS: Omit<ZoneAnswer, 'kind'> = {
  answer: [],
  authority: [],
  additional: [],
  isLive: false,
  truncated: false,
}

/** The records of the authority section of an answer that has what was asked. */
export function authorityOf(zone: ZoneData, wantsDnssec: boolean): readonly ResourceRecord[] {
  return wantsDnssec ? [...zone.nameservers, ...zone.nsSignatures] : zone.nameservers
}

/** The records of the authority section of an answer that has not (RFC 2308 §3). */
export function negativeAuthority(zone: ZoneData, wantsDnssec: boolean): readonly ResourceRecord[] {
  return wantsDnssec ? [zone.soa, ...zone.soaSignatures] : [zone.soa]
}

/** Leads to the servers below a cut; proves that it is not signed when it is not. */
export function referral(zone: ZoneData, { sets }: ZoneNode, wantsDnssec: boolean): ZoneAnswer {
  const nameservers = sets.get(TYPE.NS) ?? []
  const additional = glueOf(zone, nameservers, wantsDnssec)
  const signed = wantsDnssec ? recordsOf(sets, sets.has(TYPE.DS) ? TYPE.DS : TYPE.NSEC, true) : []
  const authority = [...nameservers, ...signed]
  return { ...NO_RECORDS, kind: 'referral', authority, additional }
}
