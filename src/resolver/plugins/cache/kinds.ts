/**
 * Which responses the cache stores, for how long and under which key
 * (github.com/coredns/coredns, plugin/cache/cache.go).
 * @module
 */

import { equalNames, nameKey } from '../../../dns/names/name.ts'
import { CLASS } from '../../../dns/names/rr-class.ts'
import { isTransferType, TYPE } from '../../../dns/names/rr-type.ts'
import { isForwarded } from '../../../dns/wire/edns.ts'
import type { Reply, ResourceRecord } from '../../../dns/wire/message.ts'
import { FLAG } from '../../../dns/wire/query.ts'
import { optionsOf } from '../../chain/derived-request.ts'
import type { Request } from '../../contract/request.ts'
import { type ResponseKind, responseKind } from '../../plugin-kit/response-class.ts'
import type { Bounds } from './options.ts'

/** TTL of a response without records, and of a delegation. */
const TTL_SECONDS_FALLBACK = 5

/**
 * Classifies a reply. A CNAME without a record of the type is NODATA if there is an SOA record; the
 * cache takes no part in transfers.
 */
export function cacheKind(request: Request, reply: Reply): ResponseKind {
  if (isTransferType(request.type)) return 'other-error'
  const hasNs = reply.authority.some(({ type }) => type === TYPE.NS)
  const facts = { rcode: reply.rcode, answerCount: reply.answer.length, hasSoa: hasSoa(reply) }
  const kind = responseKind({ ...facts, hasNs })
  return kind === 'answer' && facts.hasSoa && lacksAnswer(request, reply) ? 'nodata' : kind
}

/**
 * Whether the cache may store a reply. It stores no errors, no truncated replies, no transfers, no
 * NXDOMAIN without an SOA record (RFC 2308 §5), and no replies from a snapshot.
 */
export function isCacheable(request: Request, reply: Reply, kind: ResponseKind): boolean {
  if (reply.origin === 'snapshot' || reply.truncated || kind === 'other-error') return false
  if (kind === 'nxdomain') return hasSoa(reply)
  return kind !== 'answer' || hasSoa(reply) || !lacksAnswer(request, reply)
}

/** Returns the TTL for all records of a reply: the lowest, within bounds. */
export function boundedTtl(reply: Reply, kind: ResponseKind, bounds: Bounds): number {
  const { ttlSecondsMin, ttlSecondsMax } = bounds
  const isCounted = kind === 'answer' || kind === 'nodata' || kind === 'nxdomain'
  const records = [...reply.answer, ...reply.authority, ...reply.additional]
  const smallest =
    isCounted && records.length > 0
      ? records.reduce((ttl, record) => Math.min(ttl, record.ttlSeconds), ttlSecondsMax)
      : TTL_SECONDS_FALLBACK
  return Math.min(Math.max(smallest, ttlSecondsMin), ttlSecondsMax)
}

/**
 * Whether an answer section answers the query: records of the type at the end of the CNAMEs
 * that begin at the name. CNAMEs that fork or loop have no end (RFC 2181 §10.1).
 */
export function hasAnswer(
  { name, type, class: rrClass }: Pick<Request, 'name' | 'type' | 'class'>,
  answer: readonly ResourceRecord[],
): boolean {
  const records = answer.filter((one) => rrClass === CLASS.ANY || one.class === rrClass)
  if (type === TYPE.ANY) return records.some(({ owner }) => equalNames(owner, name))
  if (type === TYPE.CNAME) return cnameTarget(name, records) instanceof Uint8Array
  const end = endOfCnames(name, records)
  if (end === undefined) return false
  return records.some((one) => one.type === type && equalNames(one.owner, end))
}

function lacksAnswer(request: Request, { answer }: Reply): boolean {
  return answer.length > 0 && !hasAnswer(request, answer)
}

function endOfCnames(name: Uint8Array, records: readonly ResourceRecord[]): Uint8Array | undefined {
  const seen = new Set<string>()
  let owner = name
  for (;;) {
    const key = nameKey(owner)
    if (seen.has(key)) return undefined
    seen.add(key)
    const target = cnameTarget(owner, records)
    if (target === 'none') return owner
    if (target === 'several') return undefined
    owner = target
  }
}

/** Returns the target of a name's CNAME. */
function cnameTarget(
  name: Uint8Array,
  records: readonly ResourceRecord[],
): Uint8Array | 'none' | 'several' {
  let found: Uint8Array | undefined
  for (const { owner, type, rdata } of records) {
    if (type !== TYPE.CNAME || !equalNames(owner, name)) continue
    if (found !== undefined && !equalNames(found, rdata)) return 'several'
    found = rdata
  }
  return found ?? 'none'
}

function hasSoa({ authority }: Reply): boolean {
  return authority.some(({ type }) => type === TYPE.SOA)
}

/**
 * Returns the key of a question. It includes RD, DO and CD, which change responses of upstreams
 * (RFC 1034 §4.3.1, RFC 4035 §3.2), the client's visibility, and its network (RFC 7871 §7.3).
 */
export function entryKey(request: Request): string {
  const { lowerName, type, class: rrClass, query, client } = request
  const flags = (query.wantsDnssec ? 1 : 0) | (query.flags & (FLAG.RD | FLAG.CD))
  const options = query.optionsBytes === 0 ? '' : optionsKey(request)
  const visibility = client.visibility?.id ?? ''
  return `${type} ${rrClass} ${flags} ${visibility} ${options} ${nameKey(lowerName)}`
}

function optionsKey(request: Request): string {
  const forwarded = optionsOf(request).filter(({ code }) => isForwarded(code))
  return forwarded.map(({ code, data }) => `${code}:${data}`).join(';')
}
