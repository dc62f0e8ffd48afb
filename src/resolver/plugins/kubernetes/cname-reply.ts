/**
 * Replies for names with a CNAME: each link of the chain, then the records of its target.
 * @module
 */

import { equalNames, isSubdomain, joinName, tailOffset } from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { EMPTY_REPLY, type Reply, type ResourceRecord } from '../../../dns/wire/message.ts'
import { parseQuery } from '../../../dns/wire/query.ts'
import { writeQuery } from '../../../dns/wire/write-query.ts'
import { andThen, type MaybePromise } from '../../contract/maybe-promise.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Request } from '../../contract/request.ts'
import type { Denial } from '../../plugin-kit/denial.ts'
import { denialOutside, denialWithin } from './cname-end.ts'
import { unavailable } from './with-snapshot.ts'
import { negativeReply, type ZonePlace, zoneReply } from './zone-reply.ts'

/** Links of a CNAME chain within the cluster (CoreDNS, plugin/backend_lookup.go). */
const LINKS_MAX = 11

type Found = {
  readonly records: readonly ResourceRecord[]
  readonly truncated: boolean
  /** Whether a shard was unavailable, so that records may be missing. */
  readonly isIncomplete: boolean
  /** The negative response at the end; `undefined` if the end has records, or it is unknown. */
  readonly denial: Denial | undefined
}
type Step = { readonly name: Uint8Array; readonly links: readonly ResourceRecord[] }

const NOTHING: Found = { records: [], truncated: false, isIncomplete: false, denial: undefined }

/**
 * Answers a query for a name with a CNAME and no records of the type. The snapshot resolves targets
 * within the cluster, the whole server any other. Omits a link whose target has no records in the
 * cluster, unless the rules are those of the RFCs, or is the name itself or below it. Types other
 * than addresses are NODATA.
 */
export function cnameReply(request: Request, place: ZonePlace): MaybePromise<Outcome> {
  const { query, type } = request
  if (type !== TYPE.A && type !== TYPE.AAAA) return negativeReply(query, place, RCODE.NOERROR)
  const found = follow(request, place, { name: request.name, links: [] })
  return andThen(found, ({ records: answer, truncated, isIncomplete, denial }): Outcome => {
    if (isIncomplete) return unavailable()
    if (answer.length === 0) return negativeReply(query, place, RCODE.NOERROR)
    return { ...EMPTY_REPLY, authoritative: true, origin: 'snapshot', truncated, answer, ...denial }
  })
}

/** Moves CNAME targets below the query's origin, as `cnameReply` does. */
export function rebaseCnames(reply: Reply, place: ZonePlace): Reply {
  const answer = allowed(reply.answer, place).map((record) =>
    record.type === TYPE.CNAME ? rebase(record, place) : record,
  )
  return { ...reply, answer }
}

/**
 * Returns the CNAMEs to follow. An EndpointSlice of hostnames yields several, with which CoreDNS
 * answers; RFC 2181 §10.1 allows one.
 */
function allowed(
  links: readonly ResourceRecord[],
  { rules }: ZonePlace,
): readonly ResourceRecord[] {
  return rules === 'rfc' ? links.slice(0, 1) : links
}

/** Returns the records of a name; what its CNAMEs point to only if it has none of the type. */
function follow(request: Request, place: ZonePlace, step: Step): MaybePromise<Found> {
  const { name, links } = step
  return andThen(recordsAt(name, request.type, place), (records) => {
    if (records === undefined) return { ...NOTHING, isIncomplete: true }
    if (records.length > 0) return { ...NOTHING, records }
    return andThen(recordsAt(name, TYPE.CNAME, place), (cnames) => {
      if (cnames === undefined) return { ...NOTHING, isIncomplete: true }
      let found: MaybePromise<Found> = NOTHING
      for (const cname of allowed(cnames, place)) {
        const link = rebase(cname, place)
        if (!isNewLink(link, step)) continue
        found = andThen(found, (before) =>
          andThen(followLink(request, place, { link, links }), (after) => join(before, after)),
        )
      }
      return found
    })
  })
}

function isNewLink(link: ResourceRecord, { name, links }: Step): boolean {
  if (links.length >= LINKS_MAX || isSubdomain(link.rdata, name)) return false
  return !links.some(({ rdata }) => equalNames(rdata, link.rdata))
}

function followLink(
  request: Request,
  place: ZonePlace,
  { link, links }: { readonly link: ResourceRecord; readonly links: readonly ResourceRecord[] },
): MaybePromise<Found> {
  const name = link.rdata
  if (isSubdomain(name, place.zone.origin.bytes)) {
    const next = follow(request, place, { name, links: [...links, link] })
    return andThen(next, (found): MaybePromise<Found> => {
      if (found.records.length > 0) return { ...found, records: [link, ...found.records] }
      if (place.rules === 'coredns' || found.isIncomplete) return found
      const denial = denialWithin(name, request.type, place)
      return andThen(denial, (end) => ({ ...found, records: [link], denial: end }))
    })
  }
  return andThen(request.lookup(name, request.type), (outcome) => {
    if (outcome.kind === 'drop' || outcome.kind === 'transfer') return NOTHING
    const denial = denialOutside(outcome, request.type, place)
    if (outcome.kind === 'failure') return { ...NOTHING, records: [link], denial }
    const { answer, truncated } = outcome
    return { records: [link, ...answer], truncated, isIncomplete: false, denial }
  })
}

function join(a: Found, b: Found): Found {
  return {
    records: [...a.records, ...b.records],
    truncated: a.truncated || b.truncated,
    isIncomplete: a.isIncomplete || b.isIncomplete,
    denial: a.records.length === 0 ? b.denial : a.denial && b.denial,
  }
}

/** Returns the records of a type without following CNAMEs; `undefined` if unavailable. */
function recordsAt(
  name: Uint8Array,
  type: number,
  place: ZonePlace,
): MaybePromise<readonly ResourceRecord[] | undefined> {
  const query = parseQuery(writeQuery({ name, type }))
  if (query.kind === 'refusal') return []
  return andThen(zoneReply(query, place, true), (result) => {
    if (result.kind === 'unavailable') return undefined
    return result.kind === 'found' ? result.reply.answer : []
  })
}

/** Moves a CNAME target below one of the cluster's origins to the query's origin. */
function rebase(link: ResourceRecord, { zone, snapshot }: ZonePlace): ResourceRecord {
  for (const origin of snapshot.info.origins) {
    const relative = tailOffset(link.rdata, origin)
    if (relative < 0) continue
    const rdata = joinName(link.rdata.subarray(0, relative), zone.origin.bytes)
    return rdata === undefined ? link : { ...link, rdata }
  }
  return link
}
