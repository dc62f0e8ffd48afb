/**
 * Answers of `k8s_gateway` for a name. A name exists for all types or for none. (The original
 * decides for A and AAAA together, for TXT alone, and never for other types.)
 * @module
 */

import { byteAt, concatBytes } from '../../../dns/bytes/bytes.ts'
import {
  equalNames,
  joinName,
  lowerName,
  nameKey,
  parseRelativeName,
  ROOT,
} from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { EMPTY_REPLY, type Reply, type ResourceRecord } from '../../../dns/wire/message.ts'
import { nameEnd } from '../../../dns/wire/rdata-wire.ts'
import { type FoundName, recordsOf } from '../../../snapshot/read/find-name.ts'
import { infoFor } from '../../../snapshot/read/snapshot.ts'
import { CLAIMS_TYPE, MARKS_TYPE } from '../../../snapshot/records/host-claims.ts'
import type { SnapshotSource } from '../../contract/host.ts'
import { andThen, type MaybePromise } from '../../contract/maybe-promise.ts'
import { failure, type Outcome } from '../../contract/outcome.ts'
import type { Request } from '../../contract/request.ts'
import { type Authority, nsRecord, soaRecord } from '../../plugin-kit/authority.ts'
import { negativeFrom } from '../kubernetes/with-snapshot.ts'
import { aliasOf, aliasReply } from './alias-reply.ts'
import { type FindPlace, findHost, hasHostBelow } from './find-host.ts'
import type { K8sGatewayOptions } from './options.ts'

/** The zone and snapshot to answer from. */
export type GatewayPlace = FindPlace & {
  readonly source: SnapshotSource
  readonly options: K8sGatewayOptions
}

/** TTL of SOA and NS records and of negative responses. */
export const ZONE_TTL_SECONDS = 60
const HOSTMASTER = parseRelativeName('hostmaster') ?? ROOT

/** Answers for a name that an object publishes. */
export function hostReply(
  request: Request,
  found: FoundName,
  place: GatewayPlace,
): MaybePromise<Outcome> {
  const { type, name: owner } = request
  const alias = isApex(request, place) ? undefined : aliasOf(request, found)
  if (alias !== undefined) return aliasReply(request, alias)
  switch (type) {
    case TYPE.A:
    case TYPE.AAAA:
      return andThen(addressesOf(request, found, { owner, type }), ({ records, isPartial }) =>
        records.length === 0 && isPartial
          ? failure(RCODE.SERVFAIL, 'cannot look up the hostname of a load balancer')
          : replyWith(place, { answer: records }),
      )
    case TYPE.SOA:
    case TYPE.NS:
    case TYPE.CNAME:
    case CLAIMS_TYPE:
    case MARKS_TYPE:
      return unmatchedReply(request, place)
    default: {
      const answer = recordsOf(found, type, { owner, origin: ROOT })
      if (answer.length === 0) return unmatchedReply(request, place)
      return replyWith(place, { answer, additional: bindingAddresses(place, answer) })
    }
  }
}

/** Returns the known addresses of the targets of HTTPS and SVCB records (RFC 9460 §4.1). */
function bindingAddresses(
  place: GatewayPlace,
  answer: readonly ResourceRecord[],
): readonly ResourceRecord[] {
  const bindings = answer.filter(({ type }) => type === TYPE.HTTPS || type === TYPE.SVCB)
  const targets = bindings.map(({ owner, rdata }) =>
    byteAt(rdata, 2) === 0 ? owner : rdata.subarray(2, nameEnd(rdata, 2)),
  )
  const names = new Map(targets.map((target) => [nameKey(target), target]))
  return [...names.values()].flatMap((owner) => {
    const found = findHost(place, lowerName(owner))
    if (found === undefined) return []
    return [TYPE.A, TYPE.AAAA].flatMap((type) => recordsOf(found, type, { owner, origin: ROOT }))
  })
}

/** Answers for a type that no object publishes at a name. */
function unmatchedReply(request: Request, place: GatewayPlace): MaybePromise<Outcome> {
  return isApex(request, place) ? apexReply(request, place) : replyWith(place, {})
}

/**
 * Answers for a name that no object publishes: NODATA at the apex of a zone and above hostnames
 * (RFC 8020), else NXDOMAIN.
 */
export function unknownReply(request: Request, place: GatewayPlace): MaybePromise<Outcome> {
  if (isApex(request, place)) return apexReply(request, place)
  const reply = replyWith(place, {})
  const isThere = place.source.freshness() !== 'partial' && hasHostBelow(place, request.lowerName)
  return isThere ? reply : negativeFrom(place.source, reply)
}

/** Builds a reply, with the zone's SOA record if there is no answer. */
export function replyWith(
  place: GatewayPlace,
  sections: Partial<Pick<Reply, 'answer' | 'additional' | 'rcode'>>,
): Reply {
  const soa = (sections.answer ?? []).length === 0 ? [zoneSoa(place)] : []
  return { ...EMPTY_REPLY, authoritative: true, origin: 'snapshot', authority: soa, ...sections }
}

function isApex({ lowerName }: Request, { zone }: GatewayPlace): boolean {
  return equalNames(lowerName, zone)
}

function apexReply(request: Request, place: GatewayPlace): MaybePromise<Outcome> {
  switch (request.type) {
    case TYPE.SOA:
      return replyWith(place, { answer: [zoneSoa(place)] })
    case TYPE.NS:
      return serversReply(request, place)
    default:
      return replyWith(place, {})
  }
}

/** Answers with the NS records and the known addresses of the name servers. */
function serversReply(request: Request, place: GatewayPlace): MaybePromise<Outcome> {
  const { options, zone } = place
  const { apex, secondary } = options
  const servers = secondary === undefined ? [apex] : [apex, secondary]
  let additional: MaybePromise<readonly ResourceRecord[]> = []
  for (const server of servers) {
    const owner = joinName(server, zone)
    const found = owner && findHost(place, owner)
    if (owner === undefined || found === undefined) continue
    for (const type of [TYPE.A, TYPE.AAAA]) {
      additional = andThen(additional, (before) =>
        andThen(addressesOf(request, found, { owner, type }), ({ records }) => [
          ...before,
          ...records.map((record) => ({ ...record, ttlSeconds: ZONE_TTL_SECONDS })),
        ]),
      )
    }
  }
  const answer = servers.map((server) => nsRecord(authorityOf(place), server))
  return andThen(additional, (records) => replyWith(place, { answer, additional: records }))
}

function zoneSoa(place: GatewayPlace): ResourceRecord {
  const { generation } = infoFor(place.snapshot, place.namespaces)
  return soaRecord(authorityOf(place), generation)
}

function authorityOf({ zone, options }: GatewayPlace): Authority {
  const { apex: primary } = options
  const mailbox = concatBytes(HOSTMASTER, primary)
  return { zone, primary, mailbox, ttlSeconds: ZONE_TTL_SECONDS }
}

/** Addresses, and whether a lookup failed. */
type Addresses = {
  readonly records: readonly ResourceRecord[]
  readonly isPartial: boolean
}

/** Returns the distinct addresses of a type as records at `owner`. */
export function addressesOf(
  request: Request,
  found: FoundName,
  { owner, type }: { readonly owner: Uint8Array; readonly type: number },
): MaybePromise<Addresses> {
  const as = { owner, origin: ROOT }
  const records = [...recordsOf(found, type, as)]
  let isPartial = false
  const takeAll = recordsOf(found, TYPE.CNAME, as).reduce<MaybePromise<void>>(
    (before, { rdata: host, ttlSeconds }) => {
      const take = (outcome: Outcome): void => {
        isPartial ||= !hasAnswer(outcome)
        for (const record of hostAddresses(outcome, type)) {
          // The hostname's own TTL is the upper bound.
          records.push({ ...record, owner, ttlSeconds: Math.min(ttlSeconds, record.ttlSeconds) })
        }
      }
      return andThen(before, () => andThen(request.lookup(host, type), take))
    },
    undefined,
  )
  return andThen(takeAll, () => ({ records: unique(records), isPartial }))
}

function hostAddresses(outcome: Outcome, type: number): readonly ResourceRecord[] {
  if (outcome.kind !== 'reply') return []
  return outcome.answer.filter((record) => record.type === type)
}

function hasAnswer(outcome: Outcome): boolean {
  if (outcome.kind !== 'reply') return false
  return outcome.rcode === RCODE.NOERROR || outcome.rcode === RCODE.NXDOMAIN
}

function unique(records: readonly ResourceRecord[]): readonly ResourceRecord[] {
  const known = new Map<string, ResourceRecord>()
  for (const record of records) {
    const key = record.rdata.join()
    if (!known.has(key)) known.set(key, record)
  }
  return [...known.values()]
}
