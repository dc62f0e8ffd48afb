/**
 * Replies from a snapshot as records, for callers outside the fast path.
 * @module
 */
import type { SizedBytes } from '../../../dns/bytes/bytes.ts'
import { MESSAGE_BYTES_MAX } from '../../../dns/names/limits.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { parseResponse, type Reply } from '../../../dns/wire/message.ts'
import { FLAG, type Query } from '../../../dns/wire/query.ts'
import { ReplyWriter } from '../../../dns/wire/reply-writer.ts'
import { infoFor, type Snapshot } from '../../../snapshot/read/snapshot.ts'
import type { ClientVisibility } from '../../contract/client.ts'
import type { SnapshotSource } from '../../contract/host.ts'
import { andThen, type MaybePromise } from '../../contract/maybe-promise.ts'
import type { Rules } from './nxdomain-rules.ts'
import { writeSoa } from './soa.ts'
import { VERDICT } from './with-snapshot.ts'
import type { Zone } from './zone.ts'
import { ZoneAnswer } from './zone-answer.ts'

/** A zone of a snapshot, and the origin of PTR targets. */
export type ZonePlace = {
  readonly zone: Zone
  readonly home: SizedBytes
  readonly rules: Rules
  readonly snapshot: Snapshot
  /** The source that loads missing shards. */
  readonly source: SnapshotSource
  /** The client's visibility; `undefined` for everything. */
  readonly visibility: ClientVisibility | undefined
}

/** A reply, or the reason why the snapshot has none. */
export type ZoneResult =
  | { readonly kind: 'found'; readonly reply: Reply }
  /** NXDOMAIN; `snapshot` may be newer than the one passed in. */
  | { readonly kind: 'absent'; readonly snapshot: Snapshot }
  | { readonly kind: 'cname' | 'unavailable' }

/** Shards that a query may load: its own, that of another spelling, parents', name servers'. */
const LOADS_MAX = 8

const writer = new ReplyWriter()
const zoneAnswer = new ZoneAnswer(writer)

/** Answers from the shards it loads; leaves CNAMEs to the caller unless `ignoresCnames`. */
export function zoneReply(
  query: Query,
  place: ZonePlace,
  ignoresCnames: boolean,
): MaybePromise<ZoneResult> {
  return tryReply(query, place, { ignoresCnames, loadsLeft: LOADS_MAX })
}

function tryReply(
  query: Query,
  place: ZonePlace,
  options: { readonly ignoresCnames: boolean; readonly loadsLeft: number },
): MaybePromise<ZoneResult> {
  const { zone, snapshot, home, source } = place
  const isApex = query.nameBytes === zone.origin.size
  if (isApex && query.type === TYPE.SOA) {
    return { kind: 'found', reply: negativeReply(query, place, RCODE.NOERROR) }
  }
  writer.begin(query, { bytesMax: MESSAGE_BYTES_MAX })
  zoneAnswer.rules = place.rules
  zoneAnswer.setVisibility(place.visibility)
  zoneAnswer.ignoresCnames = options.ignoresCnames
  const own = zoneAnswer.answer(query, zone, snapshot, home)
  const isNs = isApex && query.type === TYPE.NS && own === VERDICT.DATA
  const verdict = isNs ? zoneAnswer.writeNameservers(snapshot) : own
  switch (verdict) {
    case VERDICT.DATA:
      return { kind: 'found', reply: finishedReply(RCODE.NOERROR) }
    case VERDICT.NODATA:
      return { kind: 'found', reply: negativeReply(query, place, RCODE.NOERROR) }
    case VERDICT.FOLLOW:
      return { kind: 'cname' }
    case VERDICT.UNLOADED:
      if (options.loadsLeft === 0) return { kind: 'unavailable' }
      return andThen(source.load(zoneAnswer.missingShard), (loaded) =>
        loaded === undefined
          ? { kind: 'unavailable' }
          : tryReply(
              query,
              { ...place, snapshot: loaded },
              { ...options, loadsLeft: options.loadsLeft - 1 },
            ),
      )
    default:
      return { kind: 'absent', snapshot }
  }
}

/** Returns a negative reply with the SOA record; for an SOA query, the SOA record is the answer. */
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
  if (reply === undefined) throw new TypeError('Cannot parse the reply that was just written')
  return { ...reply, origin: 'snapshot', options: [] }
}
