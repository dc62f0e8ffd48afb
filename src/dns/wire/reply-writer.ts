/**
 * Writes a reply into a reused buffer: header, question, three sections, OPT record.
 *
 * A record that exceeds the size limit is removed and ends the reply, which gets TC. That includes
 * additional records, because clients of SRV records rely on them, and CoreDNS does the same (RFC
 * 2181 §9 requires TC only for required records). Space for the OPT record is reserved (RFC 6891
 * §7).
 * @module
 */
import { type SizedBytes, type WordBytes, writeUint16 } from '../bytes/bytes.ts'
import {
  HEADER_BYTES,
  MESSAGE_BYTES_MAX,
  NAME_BYTES_MAX,
  UDP_BYTES_ADVERTISED,
} from '../names/limits.ts'
import { CLASS } from '../names/rr-class.ts'
import { TYPE } from '../names/rr-type.ts'
import { type EdnsOption, OPTION } from './edns.ts'
import { NameWriter } from './name-writer.ts'
import { FLAG, type Query } from './query.ts'

/** Sections of a message, in their order. */
export const SECTION = { ANSWER: 0, AUTHORITY: 1, ADDITIONAL: 2 } as const

/** Offset of the question's name, to which owner names point. */
export const QUESTION_OFFSET: number = HEADER_BYTES

const OPT_BYTES = 11
const NO_OPTIONS: readonly EdnsOption[] = []
const POINTER_BITS = 0xc000
const RECORDS_MAX = 0xffff
const { ANSWER, AUTHORITY } = SECTION
const { QR, TC, RD, CD } = FLAG
const { IN } = CLASS
/** A pointer to the question's name in the upper half of a word. */
const QUESTION_OWNER = (POINTER_BITS | HEADER_BYTES) << 16
const ECHOED = 0x7800 | RD | CD

/** Options of a reply. */
export type ReplyLimits = {
  /** Maximum size of the reply in bytes, 512 to 65535. */
  readonly bytesMax: number
  /** UDP size to advertise if the query has EDNS. */
  readonly udpBytes?: number
  /** Options of the OPT record, if the query has EDNS. */
  readonly options?: readonly EdnsOption[]
  /** The DO bit of the OPT record; the query's if absent. */
  readonly dnssecOk?: boolean
}

/** A reply in progress. A record is written as owner, `beginRecord`, rdata, `endRecord`. */
export class ReplyWriter {
  /** The reply so far; the current record can exceed the limit until it is removed. */
  readonly bytes: Uint8Array = new Uint8Array(2 * MESSAGE_BYTES_MAX + 1026)
  private readonly words = new Int32Array(this.bytes.buffer)
  /** Bytes written. */
  length = 0
  private readonly view = new DataView(this.bytes.buffer)
  /** Whether a record did not fit; further records are dropped. */
  isFull = false
  private readonly names = new NameWriter(this.bytes)
  private isTruncated = false
  private answerCount = 0
  private authorityCount = 0
  private additionalCount = 0
  private readonly joined = new Uint8Array(NAME_BYTES_MAX)
  private query: Query | undefined
  private bytesMax: number = MESSAGE_BYTES_MAX
  private udpBytes: number = UDP_BYTES_ADVERTISED
  private options = NO_OPTIONS
  private dnssecOk = false
  private hasTtlBounds = false
  private ttlMin = 0
  private ttlMax = 0
  private ttlFirst = -1
  private isTtlMixed = false
  private recordStart = 0
  private rdataStart = 0

  /** Starts the reply to a query and copies its question unchanged if it was parsed. */
  begin(query: Query, { bytesMax, udpBytes, options, dnssecOk }: ReplyLimits): void {
    this.query = query
    this.dnssecOk = dnssecOk ?? query.wantsDnssec
    this.options = query.hasEdns ? (options ?? NO_OPTIONS) : NO_OPTIONS
    this.udpBytes = udpBytes ?? UDP_BYTES_ADVERTISED
    this.bytesMax = bytesMax - (query.hasEdns ? optBytes(this.options) : 0)
    this.isFull = false
    this.isTruncated = false
    this.names.begin(query)
    this.hasTtlBounds = false
    this.ttlFirst = -1
    this.isTtlMixed = false
    this.answerCount = 0
    this.authorityCount = 0
    this.additionalCount = 0
    const { words } = this
    const { headWords, questionEnd } = query
    this.length = questionEnd === 0 ? HEADER_BYTES : questionEnd
    // Copies up to three bytes too many, which the first record overwrites.
    for (let i = HEADER_BYTES / 4; 4 * i < questionEnd; i++) words[i] = headWords[i] ?? 0
  }

  /** Sets bounds in seconds for the TTLs of the following records. */
  boundTtl(min: number, max: number): void {
    this.hasTtlBounds = true
    this.ttlMin = min
    this.ttlMax = max
  }

  /** Whether all records had the same TTL before the bounds. */
  get hasOneTtl(): boolean {
    return !this.isTtlMixed
  }

  /** Writes a pointer to an earlier name as owner; its offset is below 16,384. */
  pointOwner(offset: number): void {
    this.recordStart = this.length
    this.view.setUint16(this.length, POINTER_BITS | offset)
    this.length += 2
  }

  /** Writes the root as owner. */
  beginRootOwner(): void {
    this.recordStart = this.length
    this.bytes[this.length++] = 0
  }

  /** Starts a record whose owner `writeName` or `writeJoinedName` writes next. */
  beginOwner(): void {
    this.recordStart = this.length
  }

  /** Removes the current record. */
  cancelRecord(): void {
    this.length = this.recordStart
    // Forgets all names but the question's: none may point to the removed record.
    this.names.forget()
  }

  /** Writes the fields between a record's owner and its rdata. */
  beginRecord(type: number, rrClass: number, ttlSeconds: number): void {
    const { view, length } = this
    view.setInt32(length, (type << 16) | rrClass)
    view.setInt32(length + 4, this.boundedTtl(ttlSeconds))
    this.rdataStart = length + 10
    this.length = length + 10
  }

  /**
   * Writes a complete answer record with the question's name and class IN, and with rdata from
   * `count` little-endian words at `start`. Truncates the reply if the record does not fit.
   */
  writeAnswer(
    type: number,
    ttlSeconds: number,
    source: Int32Array,
    start: number,
    count: number,
  ): void {
    const { view, length } = this
    const rdata = length + 12
    const end = rdata + 4 * count
    if (this.isFull || end > this.bytesMax || this.answerCount === RECORDS_MAX) {
      this.isFull = true
      this.isTruncated = true
      return
    }
    const ttl = this.boundedTtl(ttlSeconds)
    view.setInt32(length, QUESTION_OWNER | type)
    view.setInt32(length + 4, (IN << 16) | (ttl >>> 16))
    view.setInt32(length + 8, (ttl << 16) | (4 * count))
    for (let i = 0; i < count; i++) view.setInt32(rdata + 4 * i, source[start + i] ?? 0, true)
    this.length = end
    this.answerCount++
  }

  /** Writes bytes of rdata unchanged. */
  writeBytes(source: Uint8Array, start: number, size: number): void {
    const { bytes, length } = this
    for (let i = 0; i < size; i++) bytes[length + i] = source[start + i] ?? 0
    this.length = length + size
  }

  /** Writes bytes of rdata from little-endian words. */
  writeWords(source: Int32Array, start: number, count: number): void {
    const { view, length } = this
    for (let i = 0; i < count; i++) view.setInt32(length + 4 * i, source[start + i] ?? 0, true)
    this.length = length + 4 * count
  }

  /** Writes an absolute name, compressed if `mayPoint` (RFC 3597 §4). */
  writeName(name: Uint8Array, mayPoint: boolean): void {
    this.length = this.names.write(this.length, name, mayPoint)
  }

  /**
   * Writes prepared rdata from little-endian words; the last word can be incomplete. Later names do
   * not point into it.
   */
  writeMade(words: Int32Array, size: number): void {
    const start = this.length
    this.writeWords(words, 0, (size + 3) >>> 2)
    this.length = start + size
  }

  /** Overwrites the bytes at `at` in the reply with a pointer to an offset below 16,384. */
  writePointerAt(at: number, offset: number): void {
    this.view.setInt16(at, POINTER_BITS | offset)
  }

  /**
   * Writes `size` bytes of labels from `start`, followed by the absolute name `origin`. Returns
   * false and writes nothing for a name over 255 bytes.
   */
  writeJoinedName(labels: WordBytes, start: number, size: number, origin: SizedBytes): boolean {
    return this.writeJoined(labels, start, size, origin, true)
  }

  /** Like `writeJoinedName`, uncompressed, for types that must not have pointers. */
  writeJoinedNameWhole(
    labels: WordBytes,
    start: number,
    size: number,
    origin: SizedBytes,
  ): boolean {
    return this.writeJoined(labels, start, size, origin, false)
  }

  /**
   * Ends a record. Keeps it and returns true, or removes it if the reply exceeds its limit or was
   * truncated before.
   */
  endRecord(section: number): boolean {
    const { length, rdataStart } = this
    if (this.isFull || length > this.bytesMax || this.countIn(section) === RECORDS_MAX) {
      this.cancelRecord()
      this.isFull = true
      this.isTruncated = true
      return false
    }
    this.view.setInt16(rdataStart - 2, length - rdataStart)
    if (section === ANSWER) this.answerCount++
    else if (section === AUTHORITY) this.authorityCount++
    else this.additionalCount++
    return true
  }

  /**
   * Writes the OPT record and the header. `flags` are the bits besides QR, opcode, RD and CD, which
   * come from the query. A `paddingBlock` above 0 pads to a multiple of it (RFC 8467). Returns the
   * reply's size.
   */
  finish(rcode: number, flags: number, paddingBlock = 0): number {
    const query = this.query
    if (query === undefined) throw new TypeError('Cannot finish a reply before it was started')
    const { view } = this
    const optCount = query.hasEdns ? 1 : 0
    if (query.hasEdns) this.writeOpt(query, rcode, paddingBlock)
    const truncated = this.isTruncated ? TC : 0
    const second = QR | (query.flags & ECHOED) | flags | truncated | (rcode & 15)
    const questionCount = query.questionEnd === 0 ? 0 : 1
    view.setInt32(0, (query.id << 16) | second)
    view.setInt32(4, (questionCount << 16) | this.answerCount)
    view.setInt32(8, (this.authorityCount << 16) | (this.additionalCount + optCount))
    return this.length
  }

  /** Sets and clears header bits of the last finished reply. */
  changeFlags(set: number, cleared: number): void {
    const { view } = this
    view.setUint16(2, (view.getUint16(2) & ~cleared) | set)
  }

  /** Returns a record's TTL within the bounds, and tracks whether all records have the same. */
  private boundedTtl(ttlSeconds: number): number {
    if (this.ttlFirst < 0) this.ttlFirst = ttlSeconds
    else if (this.ttlFirst !== ttlSeconds) this.isTtlMixed = true
    if (!this.hasTtlBounds) return ttlSeconds
    const { ttlMin, ttlMax } = this
    const raised = ttlSeconds < ttlMin ? ttlMin : ttlSeconds
    return raised > ttlMax ? ttlMax : raised
  }

  private countIn(section: number): number {
    if (section === ANSWER) return this.answerCount
    return section === AUTHORITY ? this.authorityCount : this.additionalCount
  }

  private writeJoined(
    labels: WordBytes,
    start: number,
    size: number,
    origin: SizedBytes,
    mayPoint: boolean,
  ): boolean {
    if (size + origin.size > NAME_BYTES_MAX) return false
    const { names, length, joined } = this
    const end = names.writeJoined(length, labels, start, size, origin, mayPoint)
    if (end > 0) {
      this.length = end
      return true
    }
    for (let i = 0; i < size; i++) joined[i] = labels.bytes[start + i] ?? 0
    joined.set(origin.bytes, size)
    this.length = names.write(length, joined, mayPoint)
    return true
  }

  private writeOpt(query: Query, rcode: number, paddingBlock: number): void {
    const { bytes } = this
    const start = this.length
    bytes[start] = 0
    writeUint16(bytes, start + 1, TYPE.OPT)
    writeUint16(bytes, start + 3, this.udpBytes)
    bytes[start + 5] = rcode >>> 4
    bytes[start + 6] = 0
    writeUint16(bytes, start + 7, this.dnssecOk ? 0x8000 : 0)
    this.length = start + OPT_BYTES
    for (const { code, data } of this.options) {
      writeUint16(bytes, this.length, code)
      writeUint16(bytes, this.length + 2, data.length)
      bytes.set(data, this.length + 4)
      this.length += 4 + data.length
    }
    if (paddingBlock > 0 && query.wantsPadding) this.writePadding(paddingBlock)
    writeUint16(bytes, start + 9, this.length - start - OPT_BYTES)
  }

  private writePadding(block: number): void {
    const { bytes, length } = this
    const room = MESSAGE_BYTES_MAX - length - 4
    if (room < 0) return
    const padding = Math.min(room, (block - ((length + 4) % block)) % block)
    writeUint16(bytes, length, OPTION.PADDING)
    writeUint16(bytes, length + 2, padding)
    bytes.fill(0, length + 4, length + 4 + padding)
    this.length = length + 4 + padding
  }
}

function optBytes(options: readonly EdnsOption[]): number {
  let size = OPT_BYTES
  for (const { data } of options) size += 4 + data.length
  return size
}
