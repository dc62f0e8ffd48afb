/**
 * Writes RRsets of a shard into a response, with names below the origin of the query. Allocates
 * nothing.
 * @module
 */
import { asWordBytes, type SizedBytes } from '../../dns/bytes/bytes.ts'
import { ROOT } from '../../dns/names/name.ts'
import { CLASS } from '../../dns/names/rr-class.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import { writeRdata } from '../../dns/wire/rdata-wire.ts'
import { QUESTION_OFFSET, type ReplyWriter, SECTION } from '../../dns/wire/reply-writer.ts'
import { FORM, PARTS_BYTES, TARGET_BYTES } from '../format/layout.ts'
import type { Shard } from './shard.ts'
import type { Visibility } from './visibility.ts'

const { FIXED, TARGETS } = FORM
const { A, AAAA, SRV, DNAME } = TYPE
const { IN } = CLASS
const { ANSWER, ADDITIONAL } = SECTION
const RDATA_FIXED_BYTES = 6

/** Writes RRsets. One instance serves all responses; the caller sets its fields before each. */
export class SetWriter {
  /** The response. */
  reply: ReplyWriter
  /** Absolute origin of relative names. */
  origin: SizedBytes = asWordBytes(ROOT)
  /** Returns the index of the first address, modulo their number; `undefined` for 0. */
  rotation: (() => number) | undefined
  /** Whether the additional section stays empty. */
  isMinimal = false

  /** The namespaces that the client sees; `undefined` for all. */
  namespaces: Visibility | undefined

  constructor(reply: ReplyWriter) {
    this.reply = reply
  }

  /** Writes the RRset of a reference into the answer section, at the query name. */
  writeAnswer(shard: Shard, ref: number): void {
    this.writeSet(shard, shard.refSet(ref), shard.refCount(ref), shard.refType(ref))
  }

  /** Writes an RRset of `count` records into the answer section, at the query name. */
  writeSet(shard: Shard, set: number, count: number, type: number): void {
    const form = shard.setForm(set)
    if (form === FIXED) this.writeAddresses(shard, set, count, type)
    else if (form === TARGETS) this.writeTargets(shard, set, count)
    else this.writeParts(shard, set, count, type)
  }

  /** Writes the addresses of all targets of an SRV set into the additional section, each once. */
  writeTargetAddresses(shard: Shard, ref: number): void {
    const set = shard.refSet(ref)
    if (this.isMinimal || shard.setForm(set) !== TARGETS) return
    const count = shard.refCount(ref)
    for (let i = 0; i < count && !this.reply.isFull; i++) {
      if (shard.isFirstWithTarget(set, i)) this.writeAdditional(shard, shard.targetNode(set, i))
    }
  }

  /** Writes a node's addresses into the additional section. */
  writeAdditional(shard: Shard, node: number): void {
    if (this.isMinimal || this.namespaces?.has(shard, shard.nodeNamespaceId(node)) === false) return
    this.writeNodeAddresses(shard, node, A)
    this.writeNodeAddresses(shard, node, AAAA)
  }

  private writeAddresses(shard: Shard, set: number, count: number, type: number): void {
    const { reply } = this
    const ttlSeconds = shard.setTtl(set)
    const { words } = shard
    const size = type === A ? 1 : 4
    const first = (set >>> 2) + 1
    let next = count === 1 || this.rotation === undefined ? 0 : this.rotation() % count
    for (let left = count; left > 0 && !reply.isFull; left--) {
      reply.writeAnswer(type, ttlSeconds, words, first + size * next, size)
      next = next + 1 === count ? 0 : next + 1
    }
  }

  private writeTargets(shard: Shard, set: number, count: number): void {
    const { reply } = this
    const ttlSeconds = shard.setTtl(set)
    for (let i = 0; i < count && !reply.isFull; i++) {
      const item = set + 4 + TARGET_BYTES * i
      const node = shard.targetNode(set, i)
      reply.pointOwner(QUESTION_OFFSET)
      reply.beginRecord(SRV, IN, ttlSeconds)
      reply.writeBytes(shard.bytes, item, RDATA_FIXED_BYTES)
      const start = shard.nameOffset(node)
      if (reply.writeJoinedNameWhole(shard, start, shard.nameBytes(node), this.origin)) {
        reply.endRecord(ANSWER)
      } else reply.cancelRecord()
    }
  }

  private writeParts(shard: Shard, set: number, count: number, type: number): void {
    const { reply } = this
    const ttlSeconds = shard.setTtl(set)
    let item = set + 4
    for (let i = 0; i < count && !reply.isFull; i++) {
      const size = shard.uint16(item)
      const nameSize = shard.uint16(item + 2) - 1
      const name = item + PARTS_BYTES + size
      reply.pointOwner(QUESTION_OFFSET)
      reply.beginRecord(type, IN, ttlSeconds)
      if (this.writePart(shard, item, nameSize, type)) reply.endRecord(ANSWER)
      else reply.cancelRecord()
      item = name + Math.max(0, nameSize)
    }
  }

  private writePart(shard: Shard, item: number, nameSize: number, type: number): boolean {
    const { reply, origin } = this
    const size = shard.uint16(item)
    const start = item + PARTS_BYTES
    if (nameSize < 0) {
      writeRdata(reply, type, shard.bytes.subarray(start, start + size))
      return true
    }
    reply.writeBytes(shard.bytes, start, size)
    return type === SRV || type === DNAME
      ? reply.writeJoinedNameWhole(shard, start + size, nameSize, origin)
      : reply.writeJoinedName(shard, start + size, nameSize, origin)
  }

  private writeNodeAddresses(shard: Shard, node: number, type: number): void {
    const { reply } = this
    const ref = shard.findSet(node, type)
    if (ref === 0) return
    const set = shard.refSet(ref)
    const ttlSeconds = shard.setTtl(set)
    const size = type === A ? 4 : 16
    for (let i = 0; i < shard.refCount(ref) && !reply.isFull; i++) {
      reply.beginOwner()
      const start = shard.nameOffset(node)
      if (!reply.writeJoinedName(shard, start, shard.nameBytes(node), this.origin)) return
      reply.beginRecord(type, IN, ttlSeconds)
      reply.writeWords(shard.words, (set + 4 + size * i) >>> 2, size >>> 2)
      reply.endRecord(ADDITIONAL)
    }
  }
}
