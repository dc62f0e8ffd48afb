/**
 * The replies of several clusters for one name that they have together, as one.
 * @module
 */
import { toLatin1 } from '../../bytes/bytes.ts'
import type { Reply, ResourceRecord } from '../../dns/message.ts'

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
