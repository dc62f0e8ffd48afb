/**
 * Reports each answered message to an observer, such as Workers Analytics Engine: with the
 * identifier of the client's token, and with the query name only when the operator enabled that.
 * @module
 */
import { byteAt } from '../../dns/bytes/bytes.ts'
import { formatName } from '../../dns/names/name.ts'
import { formatRcode } from '../../dns/names/rcode.ts'
import { formatType } from '../../dns/names/rr-type.ts'
import type { Query, Refusal } from '../../dns/wire/query.ts'
import type { ClusterZones } from '../snapshots/cluster-zones.ts'
import type { Arrival } from '../snapshots/local-names.ts'

/** What an observer gets for each answered message. */
export type Answered = {
  /** Clusters that the zone belongs to, separated by spaces; '' outside of all clusters' zones. */
  readonly clusters: string
  /** The response code, such as `NXDOMAIN`. */
  readonly rcode: string
  /** The query type, such as `AAAA`; '' for a malformed query. */
  readonly type: string
  /** `GET`, `HEAD`, `POST`, `JSON` for the JSON API, `SERVICE` for a service binding, `DOT`. */
  readonly method: string
  /** The freshness of each cluster (`fresh`, `stale`, `expired`), separated by spaces. */
  readonly freshness: string
  /** The query name in lower case; absent for a malformed query, and unless names are wanted. */
  readonly name?: string
  /** The identifier of the client's token, never a secret; '' without one. */
  readonly tokenId: string
  /** The request, where the runtime has one: a platform knows where it came from. */
  readonly request: Request | undefined
  /** Milliseconds by the runtime's clock; that of Workers advances only during I/O. */
  readonly ms: number
  /** Bytes of the response. */
  readonly bytes: number
}

/** An observer. */
export type AnswerObserver = {
  readonly onAnswer: (answered: Answered) => void
  /** Whether to report query names. */
  readonly wantsNames: boolean
}

/** A message that was answered. */
export type AnsweredMessage = {
  readonly query: Query | Refusal
  readonly reply: Uint8Array
  readonly arrival: Arrival
  readonly ms: number
}

/** Reports a message to an observer. @throws what the observer throws */
export function reportAnswer(
  { onAnswer, wantsNames }: AnswerObserver,
  zones: ClusterZones,
  { query, reply, arrival, ms }: AnsweredMessage,
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
  onAnswer({
    clusters: [...freshness.keys()].join(' '),
    rcode: formatRcode(rcode),
    type: isQuery ? formatType(query.type) : '',
    method: arrival.method,
    freshness: [...freshness.values()].join(' '),
    ...(isQuery && wantsNames && { name: formatName(query.name.subarray(0, query.nameBytes)) }),
    tokenId: arrival.caller?.tokenId ?? '',
    request: arrival.head.request,
    ms,
    bytes: reply.length,
  })
}
