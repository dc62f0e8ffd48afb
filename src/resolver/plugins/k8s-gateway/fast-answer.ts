/**
 * The fast path of `k8s_gateway`: the addresses of a hostname, bytes to bytes. Wildcards, missing
 * names, other types, names of load balancers and all that is stale take the slow path.
 * @module
 */

import { joinName } from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { FLAG, isWithinZone, type Query } from '../../../dns/wire/query.ts'
import type { ReplyWriter } from '../../../dns/wire/reply-writer.ts'
import { SetWriter } from '../../../snapshot/read/set-writer.ts'
import { hostKey } from '../../../snapshot/records/host-claims.ts'
import type { FastReplyOptions } from '../../contract/fast-path-part.ts'
import type { SnapshotSource } from '../../contract/host.ts'
import type { SeenZones } from '../kubernetes/seen-zones.ts'
import type { K8sGatewayOptions } from './options.ts'

const { A, AAAA, CNAME } = TYPE

/** The fast path of one directive. */
export class FastHostAnswer {
  private readonly seen: SeenZones
  private readonly source: SnapshotSource
  /** The names of the server itself, whose addresses have another TTL. */
  private readonly servers: readonly Uint8Array[]
  private sets: SetWriter | undefined

  constructor({ zones, apex }: K8sGatewayOptions, seen: SeenZones, source: SnapshotSource) {
    this.seen = seen
    this.source = source
    this.servers = zones.flatMap((zone) => joinName(apex, zone) ?? [])
  }

  /** Writes the reply and returns its size in bytes; 0 if the query needs the slow path. */
  answer(query: Query, reply: ReplyWriter, how: FastReplyOptions): number {
    const { type } = query
    if (type !== A && type !== AAAA) return 0
    const { visibility } = how
    const zone = this.seen.closest(query, visibility)
    if (zone === undefined || query.nameBytes === zone.length) return 0
    if (this.servers.some((server) => isWithinZone(query, server))) return 0
    const namespaces = visibility?.namespaces
    const snapshot = this.source.current()
    if (snapshot === undefined || this.source.freshness(namespaces) !== 'fresh') return 0
    const key = hostKey(query.name.subarray(0, query.nameBytes - 1), 0)
    if (key === undefined) return 0
    const shard = snapshot.shards[snapshot.shardOfName(key, key.length)]
    if (shard === undefined) return 0
    const node = shard.findNode(key, key.length)
    if (node === 0 || shard.isImplied(node) || shard.isGlue(node)) return 0
    if (namespaces?.has(shard, shard.nodeNamespaceId(node)) === false) return 0
    const ref = shard.findSet(node, type)
    if (ref === 0 || shard.findSet(node, CNAME) !== 0) return 0
    shard.isUsed = true
    reply.begin(query, how)
    if (how.hasTtlBounds) reply.boundTtl(how.answerTtlMin, how.answerTtlMax)
    this.sets ??= new SetWriter(reply)
    this.sets.reply = reply
    this.sets.rotation = how.rotation
    this.sets.writeAnswer(shard, ref)
    // The cache gives all records the lowest TTL, which is known only after the last record.
    if (how.hasTtlBounds && !reply.hasOneTtl) return 0
    return reply.finish(RCODE.NOERROR, FLAG.AA, how.paddingBlock)
  }
}
