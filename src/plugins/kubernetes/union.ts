/**
 * The replies of several clusters for one name that they have together, as one.
 * @module
 */
import { readUint16, toLatin1 } from '../../dns/bytes.ts'
import type { Reply, ResourceRecord } from '../../dns/message.ts'
import { tailOffset } from '../../dns/name.ts'
import { TYPE } from '../../dns/rr-type.ts'

/** Octets of SRV data before the target (RFC 2782). */
const SRV_BYTES = 6

/**
 * Joins replies about a name that exists: each record once, with the least TTL of its set (RFC 2181
 * §5.2). When none has data, the first says so.
 */
export function unionOf(replies: readonly [Reply, ...Reply[]]): Reply {
  const [first] = replies
  const withData = replies.filter(({ answer }) => answer.length > 0)
  if (withData.length === 0) return first
  const answer = distinct(withData.flatMap((reply) => reply.answer))
  const additional = distinct(withData.flatMap((reply) => reply.additional))
  const truncated = withData.some((reply) => reply.truncated)
  return { ...first, answer, authority: [], additional, truncated }
}

function distinct(records: readonly ResourceRecord[]): ResourceRecord[] {
  const ttls = new Map<string, number>()
  const byData = new Map<string, ResourceRecord>()
  for (const record of records) {
    const set = `${toLatin1(record.owner)} ${record.type}`
    ttls.set(set, Math.min(ttls.get(set) ?? Infinity, record.ttlSeconds))
    byData.set(`${set} ${toLatin1(record.rdata)}`, record)
  }
  return [...byData.values()].map((record) => {
    const ttlSeconds = ttls.get(`${toLatin1(record.owner)} ${record.type}`) ?? record.ttlSeconds
    return { ...record, ttlSeconds }
  })
}

/**
 * Tells how clusters contradict each other about a Service, as far as their SRV records show it
 * (KEP-1645 "Conflict resolution"): one reaches it by its own address and another by its endpoints,
 * or its port is not the same; `undefined` when they agree.
 */
export function conflictOf(replies: readonly Reply[]): 'type' | 'ports' | undefined {
  const services = replies
    .map(({ answer }) => answer.filter(({ type }) => type === TYPE.SRV))
    .filter((records) => records.length > 0)
  const differ = (tell: (record: ResourceRecord) => unknown): boolean =>
    new Set(services.map((records) => [...new Set(records.map(tell))].sort().join())).size > 1
  if (differ(isOwnAddress)) return 'type'
  return differ(({ rdata }) => readUint16(rdata, 4)) ? 'ports' : undefined
}

/** A Service with an address of its own is the target of its ports; else endpoints are. */
function isOwnAddress({ owner, rdata }: ResourceRecord): boolean {
  return tailOffset(owner, rdata.subarray(SRV_BYTES)) >= 0
}
