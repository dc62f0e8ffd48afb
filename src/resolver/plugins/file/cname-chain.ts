/**
 * Follows CNAMEs: within the zone as long as its names have records, then through the whole server.
 * @module
 */

import { equalNames, isSubdomain } from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { isSameRecord, type ResourceRecord } from '../../../dns/wire/message.ts'
import { andThen, type MaybePromise } from '../../contract/maybe-promise.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Request } from '../../contract/request.ts'
import { denialOf } from '../../plugin-kit/denial.ts'
import type { Rules } from '../kubernetes/nxdomain-rules.ts'
import { findZoneName } from './find-name.ts'
import {
  additionalAddresses,
  authorityOf,
  NO_RECORDS,
  negativeAuthority,
  referral,
  type ZoneAnswer,
} from './sections.ts'
import { signedRecords } from './signatures.ts'
import type { ZoneData } from './zone-data.ts'
import { coveredType } from './zone-nodes.ts'

/** CNAMEs within a zone that one response follows (CoreDNS, plugin/file/lookup.go). */
const LINKS_MAX = 10

/** The chain so far. */
export type CnameChain = {
  /** CNAME records, with signatures; the first one is the next to follow. */
  readonly links: readonly ResourceRecord[]
  /** Proofs for expanded wildcards. */
  readonly proofs: readonly ResourceRecord[]
  readonly rules: Rules
}

/**
 * Follows a CNAME. A loop ends where it closes, with each CNAME once. As in CoreDNS, queries for NS
 * records always go through the whole server.
 *
 * A negative response has the SOA record of this zone, as in CoreDNS, and NODATA within the zone
 * has none; by the RFCs, that of the zone which the chain ends in (RFC 2308 §2.1, §2.2).
 */
export function followCname(
  zone: ZoneData,
  request: Request,
  chain: CnameChain,
): MaybePromise<ZoneAnswer> {
  const { links, proofs, rules } = chain
  const { type, query } = request
  const { wantsDnssec } = query
  const answer = [...links]
  let [link] = links
  for (let count = 1; link !== undefined; count++) {
    const target = link.rdata
    const isWithin = isSubdomain(target, zone.origin)
    const match = isWithin ? findZoneName(zone, target, type) : undefined
    if (match?.kind === 'cut') {
      const { authority, additional } = referral(zone, match.node, wantsDnssec)
      return {
        ...NO_RECORDS,
        kind: 'referral',
        answer,
        authority: [...authority, ...proofs],
        additional,
      }
    }
    const isOfZone = type === TYPE.SOA && equalNames(target, zone.origin)
    if (match?.kind !== 'exact' || type === TYPE.NS || isOfZone) {
      return andThen(request.lookup(target, type), (outcome) =>
        join(request, zone, { answer, proofs, rules, target }, outcome),
      )
    }
    const next = signedRecords(match.node.sets, TYPE.CNAME, wantsDnssec)
    if (next.length === 0) answer.push(...signedRecords(match.node.sets, type, wantsDnssec))
    const isKnown = next.some((record) => answer.some((own) => isSameRecord(own, record)))
    const isNew = count < LINKS_MAX && !isKnown
    if (isNew) answer.push(...next)
    link = isNew ? next[0] : undefined
  }
  const isNodata = rules === 'rfc' && !answer.some((record) => record.type === type)
  const own = isNodata ? negativeAuthority : authorityOf
  const authority = [...own(zone, wantsDnssec), ...proofs]
  const additional = additionalAddresses(zone, answer, wantsDnssec)
  return { ...NO_RECORDS, kind: isNodata ? 'nodata' : 'found', answer, authority, additional }
}

/** A chain that goes on through the server. */
type OpenChain = Pick<CnameChain, 'proofs' | 'rules'> & {
  readonly answer: readonly ResourceRecord[]
  /** The target of the last CNAME. */
  readonly target: Uint8Array
}

/** Joins the chain and the server's outcome for its end. */
function join(
  { type, query: { wantsDnssec } }: Request,
  zone: ZoneData,
  { answer, proofs, rules, target }: OpenChain,
  outcome: Outcome,
): ZoneAnswer {
  const reply = outcome.kind === 'reply' ? outcome : undefined
  const found = (reply?.answer ?? []).filter(
    (record) => !answer.some((own) => isSameRecord(own, record)),
  )
  const all = [...answer, ...found]
  const denial = rules === 'rfc' ? denialOf(outcome, type) : undefined
  const kind = denial?.rcode === RCODE.NOERROR ? 'nodata' : kindOf(outcome)
  const isNegative = kind === 'absent' || kind === 'nodata'
  const isElsewhere = rules === 'rfc' && isNegative && !isSubdomain(target, zone.origin)
  const own = isNegative ? negativeAuthority : authorityOf
  const soa = denial?.authority.filter((record) => isOfType(record, TYPE.SOA)) ?? []
  const theirs = wantsDnssec ? (reply?.authority ?? []).filter(isProof) : []
  return {
    kind,
    answer: all,
    authority: [...(isElsewhere ? soa : own(zone, wantsDnssec)), ...proofs, ...theirs],
    additional: additionalAddresses(zone, all, wantsDnssec),
    isLive: reply?.origin === 'snapshot',
    truncated: reply?.truncated ?? false,
  }
}

/** Classifies the outcome for the end of a chain. REFUSED does not change it (RFC 6604 §3). */
function kindOf(outcome: Outcome): ZoneAnswer['kind'] {
  if (outcome.kind !== 'reply' && outcome.kind !== 'failure') return 'found'
  const { rcode } = outcome
  if (rcode === RCODE.NXDOMAIN) return 'absent'
  if (rcode === RCODE.SERVFAIL) return 'failure'
  const isEmpty = outcome.kind === 'reply' && outcome.answer.length === 0
  return rcode === RCODE.NOERROR && isEmpty ? 'nodata' : 'found'
}

function isProof(record: ResourceRecord): boolean {
  return isOfType(record, TYPE.NSEC) || isOfType(record, TYPE.NSEC3)
}

/** Whether a record has a type, or is a signature of records that have it. */
function isOfType(record: ResourceRecord, type: number): boolean {
  return record.type === type || (record.type === TYPE.RRSIG && coveredType(record) === type)
}
