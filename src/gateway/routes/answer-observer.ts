/**
 * Reports each answered message to an observer, such as Workers Analytics Engine. It never reports
 * the client, and reports the query name only when the operator enabled that.
 * @module
 */
import { byteAt } from '../../dns/bytes/bytes.ts'
import { formatName } from '../../dns/names/name.ts'
import { formatRcode } from '../../dns/names/rcode.ts'
import { formatType } from '../../dns/names/rr-type.ts'
import type { Query, Refusal } from '../../dns/wire/query.ts'
import type { ClusterZones } from '../snapshots/cluster-zones.ts'

/** What an observer gets for each answered message. */
export type Answered = {
  /** Clusters that the zone belongs to, separated by spaces; '' outside of all clusters' zones. */
  readonly clusters: string
  /**
   * The response code; the query type, '' for a malformed query; `GET`, `HEAD`, `POST`, or `JSON`
   * for the JSON API; the freshness of each cluster (`fresh`, `stale`, `expired`), separated by
   * spaces; the query name in lower case, when it is reported.
   */
  readonly words: string[]
  /**
   * Milliseconds by the runtime's clock, which on Workers advances only while a request waits for
   * I/O; bytes of the response.
   */
  readonly numbers: number[]
}

/** An observer. */
export type AnswerObserver = {
  readonly onAnswer: (answered: Answered) => void
  /** Whether to report query names. */
  readonly wantsNames: boolean
}

/** A message that was answered. */
export type Exchange = {
  readonly query: Query | Refusal
  readonly reply: Uint8Array
  /** `GET`, `HEAD`, `POST` or `JSON`. */
  readonly method: string
  readonly ms: number
}

/** Reports a message to an observer. @throws what the observer throws */
export function reportAnswer(
  { onAnswer, wantsNames }: AnswerObserver,
  zones: ClusterZones,
  { query, reply, method, ms }: Exchange,
): void {
  const isQuery = query.kind === 'query'
  // A cluster may have several trees, and need not publish all of them.
  const freshness = new Map<string, string>()
  for (const { cluster, reader } of zones.find(query)?.parts ?? []) {
    const found = reader.freshness()
    if (found !== 'expired' || !freshness.has(cluster)) freshness.set(cluster, found)
  }
  // Only a refusal has a code of more than four bits (RFC 6891 §6.1.3).
  const rcode = (isQuery ? undefined : query.rcode) ?? byteAt(reply, 3) & 15
  const words = [
    formatRcode(rcode),
    isQuery ? formatType(query.type) : '',
    method,
    [...freshness.values()].join(' '),
  ]
  if (isQuery && wantsNames) words.push(formatName(query.name.subarray(0, query.nameBytes)))
  onAnswer({ clusters: [...freshness.keys()].join(' '), words, numbers: [ms, reply.length] })
}
