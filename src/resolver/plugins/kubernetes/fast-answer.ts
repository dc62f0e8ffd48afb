/**
 * The fast path of `kubernetes`: answers from a fresh snapshot, bytes to bytes. CNAMEs, missing
 * shards, stale snapshots and fallthrough take the slow path.
 * @module
 */

import { RCODE } from '../../../dns/names/rcode.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { FLAG, type Query } from '../../../dns/wire/query.ts'
import type { ReplyWriter } from '../../../dns/wire/reply-writer.ts'
import { infoFor } from '../../../snapshot/read/snapshot.ts'
import type { FastReplyOptions } from '../../contract/fast-path-part.ts'
import type { SnapshotSource } from '../../contract/host.ts'
import { closestZoneIndex, type Fallthrough } from '../../plugin-kit/zones.ts'
import type { Rules } from './nxdomain-rules.ts'
import { writeSoa } from './soa.ts'
import { VERDICT } from './with-snapshot.ts'
import { type Zones, zoneOf } from './zone.ts'
import { ZoneAnswer } from './zone-answer.ts'

const { DATA, NODATA, NXDOMAIN } = VERDICT
const { CNAME, AXFR, IXFR } = TYPE
const { NOERROR } = RCODE
const { AA } = FLAG

/** Everything that answers depend on, but for the query. */
export type FastAnswerOptions = {
  readonly zones: Zones
  /** The cluster's name in views; `undefined` for a cluster without one. */
  readonly cluster: string | undefined
  readonly source: SnapshotSource
  /** The source of names shared by several clusters; equals `source` without them. */
  readonly sharedSource: SnapshotSource
  readonly rules: Rules
  readonly fallthrough: Fallthrough
}

/** The fast path of one directive. */
export class FastAnswer {
  private readonly options: FastAnswerOptions
  private zoneAnswer: ZoneAnswer | undefined

  constructor(options: FastAnswerOptions) {
    this.options = options
  }

  /** Writes the reply and returns its size in bytes; 0 if the query needs the slow path. */
  answer(query: Query, reply: ReplyWriter, how: FastReplyOptions): number {
    const { zones, cluster, rules, fallthrough } = this.options
    const zone = zoneOf(zones, query)
    if (zone === undefined || needsSlowPath(query, zone.origin.size)) return 0
    const source = zone.isMulticluster ? this.options.sharedSource : this.options.source
    const { visibility } = how
    if (visibility !== undefined && !visibility.seesOrigin(cluster, zone.origin.bytes)) return 0
    const snapshot = source.current()
    if (snapshot === undefined || source.freshness(visibility?.namespaces) !== 'fresh') return 0
    const zoneAnswer = this.zoneAnswerWith(reply)
    zoneAnswer.rules = rules
    zoneAnswer.setVisibility(visibility)
    zoneAnswer.sets.rotation = how.rotation
    zoneAnswer.sets.isMinimal = how.isMinimal
    reply.begin(query, how)
    if (how.hasTtlBounds) reply.boundTtl(how.answerTtlMin, how.answerTtlMax)
    const verdict = zoneAnswer.answer(query, zone, snapshot, zones.home)
    let rcode: number = NOERROR
    if (verdict === NXDOMAIN) {
      if (fallthrough !== undefined && closestZoneIndex(fallthrough, query) >= 0) return 0
      rcode = RCODE.NXDOMAIN
    } else if (verdict !== DATA && verdict !== NODATA) return 0
    if (verdict !== DATA) {
      if (how.hasTtlBounds) reply.boundTtl(how.negativeTtlMin, how.negativeTtlMax)
      writeSoa(reply, query, zone, infoFor(snapshot, visibility?.namespaces))
    }
    // The cache gives all records the lowest TTL, which is known only after the last record.
    if (how.hasTtlBounds && !reply.hasOneTtl) return 0
    return reply.finish(rcode, AA, how.paddingBlock)
  }

  private zoneAnswerWith(reply: ReplyWriter): ZoneAnswer {
    this.zoneAnswer ??= new ZoneAnswer(reply)
    this.zoneAnswer.writeTo(reply)
    return this.zoneAnswer
  }
}

/** Transfers are refused, a CNAME query needs the whole chain, and apex queries are rare. */
const needsSlowPath = (query: Query, originBytes: number): boolean => {
  const { type } = query
  if (type === CNAME || type === AXFR || type === IXFR) return true
  return query.nameBytes === originBytes
}
