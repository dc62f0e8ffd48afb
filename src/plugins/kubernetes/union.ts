/**
 * Joins the replies of several clusters for a shared name.
 * @module
 */
import { toLatin1 } from '../../bytes/bytes.ts'
import type { Reply, ResourceRecord } from '../../dns/message.ts'

/**
 * Joins replies for an existing name: each record once, with the lowest TTL of its RRset (RFC 2181
 * §5.2). Without data, returns the first reply.
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
