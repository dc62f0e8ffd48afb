/**
 * Follows CNAMEs: within the zone as long as its names have records, then through the whole server.
 * @module
 */
import { andThen, type MaybePromise } from '../../chain/maybe-promise.ts'
import type { Outcome } from '../../chain/outcome.ts'
import type { Request } from '../../chain/request.ts'
import { isSameRecord, type ResourceRecord } from '../../dns/message.ts'
import { equalNames, isSubdomain } from '../../dns/name.ts'
import { RCODE } from '../../dns/rcode.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { findName } from './find-name.ts'
import {
  additionalAddresses,
  authorityOf,
  NO_RECORDS,
  negativeAuthority,
  referral,
  type ZoneAnswer,
} from './sections.ts'
import { coveredType, recordsOf } from './signatures.ts'
import type { ZoneData } from './zone-data.ts'

/** CNAMEs within a zone that one response follows (CoreDNS, plugin/file/lookup.go). */
const LINKS_MAX = 10

/** The chain so far. */
export type CnameChain = {
  /** CNAME records, with signatures; the first one is the next to follow. */
  readonly links: readonly ResourceRecord[]
  /** Proofs for expanded wildcards. */
  readonly proofs: readonly ResourceRecord[]
}

/**
 * Follows a CNAME. A loop ends where it closes, with each CNAME once. As in CoreDNS, queries for NS
 * records always go through the whole server, and NODATA has no SOA record.
 */
export function followCname(
  zone: ZoneData,
  request: Request,
  { links, proofs }: CnameChain,
): MaybePromise<ZoneAnswer> {
  const { type, query } = request
  const { wantsDnssec } = query
  const answer = [...links]
  let [link] = links
  for (let count = 1; link !== undefined; count++) {
    const target = link.rdata
    const isWithin = isSubdomain(target, zone.origin)
    const match = isWithin ? findName(zone, target, type) : undefined
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
        join(zone, { answer, proofs }, outcome, wantsDnssec),
      )
    }
    const next = recordsOf(match.node.sets, TYPE.CNAME, wantsDnssec)
    if (next.length === 0) answer.push(...recordsOf(match.node.sets, type, wantsDnssec))
    const isKnown = next.some((record) => answer.some((own) => isSameRecord(own, record)))
    const isNew = count < LINKS_MAX && !isKnown
    if (isNew) answer.push(...next)
    link = isNew ? next[0] : undefined
  }
  const authority = [...authorityOf(zone, wantsDnssec), ...proofs]
  const additional = additionalAddresses(zone, answer, wantsDnssec)
  return { ...NO_RECORDS, kind: 'found', answer, authority, additional }
}

/** Joins the chain and the server's outcome for its end. */
function join(
  zone: ZoneData,
  { answer, proofs }: { answer: readonly ResourceRecord[]; proofs: readonly ResourceRecord[] },
  outcome: Outcome,
  wantsDnssec: boolean,
): ZoneAnswer {
  const reply = outcome.kind === 'reply' ? outcome : undefined
  const found = (reply?.answer ?? []).filter(
    (record) => !answer.some((own) => isSameRecord(own, record)),
  )
  const all = [...answer, ...found]
  const kind = kindOf(outcome)
  const isNegative = kind === 'absent' || kind === 'nodata'
  const theirs = wantsDnssec ? (reply?.authority ?? []).filter(isProof) : []
  return {
    kind,
    answer: all,
    authority: [
      ...(isNegative ? negativeAuthority : authorityOf)(zone, wantsDnssec),
      ...proofs,
      ...theirs,
    ],
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
  const { type } = record
  const denied = type === TYPE.RRSIG ? coveredType(record) : type
  return denied === TYPE.NSEC || denied === TYPE.NSEC3
}
