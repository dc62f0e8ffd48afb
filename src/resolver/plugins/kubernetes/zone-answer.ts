/**
 * Answers a query from a snapshot, bytes to bytes: finds the name, then the type.
 *
 * Allocates nothing. Leaves CNAMEs and shards that are not loaded to the caller.
 * @module
 */

import { asWordBytes, EMPTY, type SizedBytes, writeUint16 } from '../../../dns/bytes/bytes.ts'
import { parseAddressLabel } from '../../../dns/names/address-label.ts'
import { ROOT } from '../../../dns/names/name.ts'
import { CLASS } from '../../../dns/names/rr-class.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { Query } from '../../../dns/wire/query.ts'
import { QUESTION_OFFSET, type ReplyWriter, SECTION } from '../../../dns/wire/reply-writer.ts'
import { GLUE_MARK, PARTS_BYTES, SETS_PER_NODE_MAX } from '../../../snapshot/format/layout.ts'
import { shardOfQuery } from '../../../snapshot/format/shard-key.ts'
import { SetWriter } from '../../../snapshot/read/set-writer.ts'
import type { Shard } from '../../../snapshot/read/shard.ts'
import type { Snapshot } from '../../../snapshot/read/snapshot.ts'
import type { Visibility } from '../../../snapshot/read/visibility.ts'
import { SERVER_CHOICES } from '../../../snapshot/records/server-choice.ts'
import type { ClientVisibility } from '../../contract/client.ts'
import { hidesNs, isNxdomain, isPodService, isTooLong, type Rules } from './nxdomain-rules.ts'
import { answerReverse, isInForwardZones } from './reverse-answer.ts'
import {
  answerServers,
  isServerName,
  type SeenServers,
  seenServers,
  writeOwnServer,
} from './server-answer.ts'
import { hasUnderscore, podLabel, type RelativeName, relativeName, spellPort } from './spellings.ts'
import { VERDICT } from './with-snapshot.ts'
import { answerZonal } from './zonal-answer.ts'
import type { Zone } from './zone.ts'

const { DATA, NODATA, NXDOMAIN, FOLLOW, UNLOADED } = VERDICT
const { A, AAAA, CNAME, NS, PTR, SOA, SRV, TXT } = TYPE
const { ANSWER, ADDITIONAL } = SECTION
const { IN } = CLASS
/** Weight of the only SRV record at a Pod's name. */
const POD_WEIGHT = 100
/** The label `*` and its length. */
const WILDCARD_BYTES = 2
const ASTERISK = 0x2a

/** Answers queries; one object serves all of them. */
export class ZoneAnswer {
  readonly sets: SetWriter
  /** The rules that decide whether a name exists. */
  rules: Rules = 'coredns'
  /** Whether to answer a name with its other records instead of following its CNAME. */
  ignoresCnames = false
  /** The origin of PTR targets. */
  home: SizedBytes = asWordBytes(ROOT)
  /** Index of the shard to load. */
  missingShard = 0
  reply: ReplyWriter
  /** The namespaces that the client sees; `undefined` for all. */
  namespaces: Visibility | undefined
  private isViewed = false
  private isMulticluster = false
  private hasWildcards = false
  private readonly spelled = relativeName()
  private readonly address = new Uint8Array(16)
  private readonly service = new Uint8Array(6)
  private readonly wildcard = relativeName()

  constructor(reply: ReplyWriter) {
    this.reply = reply
    this.sets = new SetWriter(reply)
    writeUint16(this.service, 2, POD_WEIGHT)
    this.wildcard.bytes.set([1, ASTERISK])
  }

  /** Sets the target of later answers. */
  writeTo(reply: ReplyWriter): void {
    this.reply = reply
    this.sets.reply = reply
  }

  /** Sets the client's visibility for later answers; `undefined` for everything. */
  setVisibility(visibility: ClientVisibility | undefined): void {
    this.isViewed = visibility !== undefined
    this.namespaces = visibility?.namespaces
    this.sets.namespaces = visibility?.namespaces
  }

  /** Whether the client sees a node. */
  sees(shard: Shard, node: number): boolean {
    return this.namespaces === undefined || this.namespaces.has(shard, shard.nodeNamespaceId(node))
  }

  /**
   * Answers a query within `zone`, except for the SOA record at its apex. The caller begins and
   * finishes the reply.
   * @param home the origin of PTR targets
   */
  answer(query: Query, zone: Zone, snapshot: Snapshot, home: SizedBytes): number {
    const { origin, isReverse, isMulticluster } = zone
    const relativeBytes = query.nameBytes - origin.size
    this.sets.origin = origin
    this.home = home
    this.isMulticluster = isMulticluster
    this.hasWildcards = zone.hasWildcards
    if (this.rules === 'coredns') {
      if (query.type === SOA) return NODATA
      const isApexNs = query.type === NS && relativeBytes === 0
      if (isApexNs && hidesNs(query, zone, this.isViewed)) return NODATA
    }
    return isReverse && !isInForwardZones(query, relativeBytes)
      ? answerReverse(this, query, snapshot)
      : this.answerForward(query, relativeBytes, snapshot)
  }

  /** Answers a forward name as queried, else in its other spellings. */
  answerForward(query: Query, relativeBytes: number, snapshot: Snapshot): number {
    if (this.namespaces !== undefined && isServerName(query, relativeBytes)) {
      const seen = this.seenServers(snapshot)
      if (seen === UNLOADED) return UNLOADED
      if (seen !== undefined) return answerServers(this, query, relativeBytes, seen)
    }
    const { shards } = snapshot
    const count = labelsBefore(query, relativeBytes)
    const index = shardOfQuery(query, relativeBytes, count, shards.length)
    const shard = shards[index]
    if (shard === undefined) {
      this.missingShard = index
      return UNLOADED
    }
    const node = shard.findName(query.nameWords, relativeBytes)
    const { isMulticluster } = this
    if (node !== 0 && !(this.rules === 'coredns' && isTooLong(query, count, isMulticluster))) {
      return this.answerNode(query.type, shard, node)
    }
    // Under the RFCs' rules the parent of an alternative spelling, a protocol, exists as well.
    const isSpelled = count === 5 || this.rules === 'rfc'
    if (
      isSpelled &&
      (!isMulticluster || hasUnderscore(query)) &&
      spellPort(query, count, this.spelled)
    ) {
      const { bytes, words, size } = this.spelled
      const other = this.shardFor(snapshot, bytes, size)
      if (other === undefined) return UNLOADED
      const spelled = other.findName(words, size)
      if (spelled !== 0) return this.answerNode(query.type, other, spelled)
    }
    const label = podLabel(query, count)
    if (label >= 0) return this.answerPod(query, snapshot, relativeBytes, label)
    if (this.hasWildcards) return this.answerBelow(query, snapshot, relativeBytes, count)
    return answerZonal(this, query, count, snapshot)
  }

  /** Answers from the wildcard below a Service; NXDOMAIN if there is none. */
  private answerBelow(
    query: Query,
    snapshot: Snapshot,
    relativeBytes: number,
    count: number,
  ): number {
    if (count < 4) return NXDOMAIN
    const { wildcard } = this
    const start = query.labels[count - 3] ?? 0
    wildcard.size = WILDCARD_BYTES + relativeBytes - start
    for (let at = start; at < relativeBytes; at++) {
      wildcard.bytes[WILDCARD_BYTES + at - start] = query.name[at] ?? 0
    }
    const shard = this.shardFor(snapshot, wildcard.bytes, wildcard.size)
    if (shard === undefined) return UNLOADED
    const node = shard.findName(wildcard.words, wildcard.size)
    return node === 0 ? NXDOMAIN : this.answerNode(query.type, shard, node)
  }

  /** Writes the zone's name server addresses into the additional section. */
  writeNameservers(snapshot: Snapshot): number {
    const seen = this.seenServers(snapshot)
    if (seen === UNLOADED) return UNLOADED
    if (seen?.isOwn === true) {
      writeOwnServer(this, seen)
      return DATA
    }
    const targets = seen?.targets ?? this.nameservers(snapshot)
    if (targets === undefined) return UNLOADED
    for (const target of targets) {
      const shard = this.shardFor(snapshot, target, target.length)
      if (shard === undefined) return UNLOADED
      const node = shard.findNode(target, target.length)
      if (node !== 0) this.sets.writeAdditional(shard, node)
    }
    return DATA
  }

  /** Returns the NS names below the zone for clients that see everything. */
  private nameservers(snapshot: Snapshot): readonly Uint8Array[] | undefined {
    const apex = this.shardFor(snapshot, EMPTY, 0)
    const ref = apex?.findSet(apex.findNode(EMPTY, 0), NS) ?? 0
    if (apex === undefined || ref === 0) return undefined
    const targets: Uint8Array[] = []
    let item = apex.refSet(ref) + 4
    for (let left = apex.refCount(ref); left > 0; left--) {
      const start = item + PARTS_BYTES + apex.uint16(item)
      const size = apex.uint16(item + 2) - 1
      if (size >= 0) targets.push(apex.bytes.subarray(start, start + size))
      item = start + Math.max(0, size)
    }
    return targets
  }

  /** Returns the visible name servers of a restricted client; UNLOADED if a shard is missing. */
  private seenServers(snapshot: Snapshot): SeenServers | typeof UNLOADED | undefined {
    const { namespaces } = this
    if (namespaces === undefined) return undefined
    const shard = this.shardFor(snapshot, SERVER_CHOICES, SERVER_CHOICES.length)
    if (shard === undefined) return UNLOADED
    const node = shard.findNode(SERVER_CHOICES, SERVER_CHOICES.length)
    return seenServers(shard, node, namespaces)
  }

  /** Answers from the records of a node. */
  answerNode(type: number, shard: Shard, node: number): number {
    const head = shard.nodeHead(node)
    if ((head & GLUE_MARK) !== 0 || !this.sees(shard, node)) return NXDOMAIN
    const ref = shard.findSet(node, type)
    // A node whose only RRset is the requested one, the usual case, has no CNAME.
    const isOnly = ref !== 0 && ((head >>> 8) & SETS_PER_NODE_MAX) === 1
    if (this.rules === 'coredns') {
      const isSettled = isOnly && type !== TXT && type !== PTR
      if (!isSettled && isNxdomain(type, shard, node, head)) return NXDOMAIN
    }
    if (ref === 0) {
      const isCname = type !== CNAME && shard.findSet(node, CNAME) !== 0
      return isCname && !this.ignoresCnames ? FOLLOW : NODATA
    }
    if (this.rules === 'rfc' && isPodService(type, shard, node)) return NODATA
    this.sets.writeAnswer(shard, ref)
    if (type === SRV) this.sets.writeTargetAddresses(shard, ref)
    return DATA
  }

  /** Returns the shard of a name, or sets `missingShard`. */
  shardFor(snapshot: Snapshot, labels: Uint8Array, size: number): Shard | undefined {
    const index = snapshot.shardOfName(labels, size)
    const shard = snapshot.shards[index]
    if (shard === undefined) this.missingShard = index
    return shard
  }

  /** Answers a Pod's name: by lookup without the labels before it, or from its address label. */
  private answerPod(
    query: Query,
    snapshot: Snapshot,
    relativeBytes: number,
    label: number,
  ): number {
    const start = query.labels[label] ?? 0
    if (label > 0) {
      const own = this.tailOf(query, start, relativeBytes)
      const shard = this.shardFor(snapshot, own.bytes, own.size)
      if (shard === undefined) return UNLOADED
      const node = shard.findName(own.words, own.size)
      if (node !== 0) return this.answerNode(query.type, shard, node)
    }
    const parent = this.tailOf(query, query.labels[label + 1] ?? 0, relativeBytes)
    const shard = this.shardFor(snapshot, parent.bytes, parent.size)
    if (shard === undefined) return UNLOADED
    const node = shard.findName(parent.words, parent.size)
    if (node === 0 || !shard.hasAddressNames(node) || !this.sees(shard, node)) {
      return NXDOMAIN
    }
    const addressBytes = parseAddressLabel(query.name, start, this.address)
    if (addressBytes === 0) return NXDOMAIN
    const pod = this.tailOf(query, start, relativeBytes)
    return this.answerAddress(query.type, pod, addressBytes, snapshot.info.ttlSeconds)
  }

  /** Copies a query name's bytes from `start` up to the zone. */
  tailOf({ name }: Query, start: number, end: number): RelativeName {
    const { spelled } = this
    for (let i = start; i < end; i++) spelled.bytes[i - start] = name[i] ?? 0
    spelled.size = end - start
    return spelled
  }

  /** Answers for a name that spells its address. */
  private answerAddress(
    queryType: number,
    pod: RelativeName,
    addressBytes: number,
    ttlSeconds: number,
  ): number {
    const { reply, sets } = this
    const type = addressBytes === 4 ? A : AAAA
    const isService = queryType === SRV && this.rules === 'coredns'
    if (queryType !== type && !isService) return NODATA
    reply.pointOwner(QUESTION_OFFSET)
    reply.beginRecord(queryType, IN, ttlSeconds)
    if (isService) {
      reply.writeBytes(this.service, 0, this.service.length)
      reply.writeJoinedNameWhole(pod, 0, pod.size, sets.origin)
      reply.endRecord(ANSWER)
      if (sets.isMinimal) return DATA
      reply.beginOwner()
      reply.writeJoinedName(pod, 0, pod.size, sets.origin)
      reply.beginRecord(type, IN, ttlSeconds)
    }
    reply.writeBytes(this.address, 0, addressBytes)
    reply.endRecord(isService ? ADDITIONAL : ANSWER)
    return DATA
  }
}

/** Counts the labels in the first `relativeBytes` bytes of the query name. */
const labelsBefore = (query: Query, relativeBytes: number): number => {
  let count = query.labelCount
  while (count > 0 && (query.labels[count - 1] ?? 0) >= relativeBytes) count--
  return count
}
