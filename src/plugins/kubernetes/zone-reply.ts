/**
 * Replies from a snapshot as records, for everything beside the answer path.
 * @module
 */
import type { SizedBytes } from '../../bytes/bytes.ts'
import type { ClientVisibility } from '../../chain/client.ts'
import type { SnapshotSource } from '../../chain/host.ts'
import { andThen, type MaybePromise } from '../../chain/maybe-promise.ts'
import { MESSAGE_BYTES_MAX } from '../../dns/limits.ts'
import { parseResponse, type Reply } from '../../dns/message.ts'
import { FLAG, type Query } from '../../dns/query.ts'
import { RCODE } from '../../dns/rcode.ts'
import { ReplyWriter } from '../../dns/reply-writer.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { infoFor, type Snapshot } from '../../snapshot/read/snapshot.ts'
import type { Rules } from './coredns-rules.ts'
import { writeSoa } from './soa.ts'
import { VERDICT } from './verdict.ts'
import type { Zone } from './zone.ts'
import { ZoneAnswer } from './zone-answer.ts'

/** A zone of a snapshot, and the origin that names from addresses are below. */
export type ZonePlace = {
  readonly zone: Zone
  readonly home: SizedBytes
  readonly rules: Rules
  readonly snapshot: Snapshot
  /** Where shards that are not loaded come from. */
  readonly source: SnapshotSource
  /** What the client may see; everything without. */
  readonly visibility: ClientVisibility | undefined
}

/** A reply, or why the snapshot has none. */
export type ZoneResult =
  | { readonly kind: 'found'; readonly reply: Reply }
  /** NXDOMAIN of the snapshot, which may be newer than the first one. */
  | { readonly kind: 'absent'; readonly snapshot: Snapshot }
  | { readonly kind: 'cname' | 'unavailable' }

/** Shards that one query may load: names have another spelling and a parent at most. */
const LOADS_MAX = 4

const writer = new ReplyWriter()
const zoneAnswer = new ZoneAnswer(writer)

/**
 * Answers a query within a zone. CNAMEs are left to the caller, or with `ignoresAliases` answered
 * with what else they have. Loads the shards that it needs.
 */
export function zoneReply(
  query: Query,
  view: ZonePlace,
  ignoresAliases: boolean,
): MaybePromise<ZoneResult> {
  return tryReply(query, view, { ignoresAliases, loadsLeft: LOADS_MAX })
}

function tryReply(
  query: Query,
  view: ZonePlace,
  options: { readonly ignoresAliases: boolean; readonly loadsLeft: number },
): MaybePromise<ZoneResult> {
  const { zone, snapshot, home, source } = view
  const isApex = query.nameBytes === zone.origin.size
  if (isApex && query.type === TYPE.SOA) {
    return { kind: 'found', reply: negativeReply(query, view, RCODE.NOERROR) }
  }
  writer.begin(query, { bytesMax: MESSAGE_BYTES_MAX })
  zoneAnswer.rules = view.rules
  zoneAnswer.setVisibility(view.visibility)
  zoneAnswer.ignoresAliases = options.ignoresAliases
  const own = zoneAnswer.answer(query, zone, snapshot, home)
  const isNs = isApex && query.type === TYPE.NS && own === VERDICT.DATA
  const verdict = isNs ? zoneAnswer.writeNameservers(snapshot) : own
  switch (verdict) {
    case VERDICT.DATA:
      return { kind: 'found', reply: finishedReply(RCODE.NOERROR) }
    case VERDICT.NODATA:
      return { kind: 'found', reply: negativeReply(query, view, RCODE.NOERROR) }
    case VERDICT.FOLLOW:
      return { kind: 'cname' }
    case VERDICT.UNLOADED:
      if (options.loadsLeft === 0) return { kind: 'unavailable' }
      return andThen(source.load(zoneAnswer.missingShard), (loaded) =>
        loaded === undefined
          ? { kind: 'unavailable' }
          : tryReply(
              query,
              { ...view, snapshot: loaded },
              { ...options, loadsLeft: options.loadsLeft - 1 },
            ),
      )
    default:
      return { kind: 'absent', snapshot }
  }
}

/**
 * Makes the reply that a name or its type does not exist; or the SOA record itself, when it is
 * asked.
 */
export function negativeReply(
  query: Query,
  { zone, snapshot, visibility }: Pick<ZonePlace, 'zone' | 'snapshot' | 'visibility'>,
  rcode: number,
): Reply {
  writer.begin(query, { bytesMax: MESSAGE_BYTES_MAX })
  writeSoa(writer, query, zone, infoFor(snapshot, visibility?.namespaces))
  return finishedReply(rcode)
}

function finishedReply(rcode: number): Reply {
  const reply = parseResponse(writer.bytes.slice(0, writer.finish(rcode, FLAG.AA)))
  if (reply === undefined) throw new TypeError('Cannot read a reply that was just written')
  return { ...reply, origin: 'snapshot', options: [] }
}
