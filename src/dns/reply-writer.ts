/**
 * Writes a reply into a buffer that is used again: header, question, three sections, OPT record.
 *
 * A record that would break the size limit is taken back whole and ends the writing, and the reply
 * says TC: also when it was an additional one, because clients of SRV records rely on these, as
 * CoreDNS has it (RFC 2181 §9 asks for it only where records are required). Room for the OPT record
 * is kept from the start (RFC 6891 §7).
 * @module
 */
import { type SizedBytes, type WordBytes, writeUint16 } from '../bytes/bytes.ts'
import { type EdnsOption, OPTION } from './edns.ts'
import { HEADER_BYTES, MESSAGE_BYTES_MAX, NAME_BYTES_MAX, UDP_BYTES_ADVERTISED } from './limits.ts'
import { NameWriter } from './name-writer.ts'
import { FLAG, type Query } from './query.ts'
import { CLASS } from './rr-class.ts'
import { TYPE } from './rr-type.ts'

/** Sections of a message, in their order. */
export const SECTION = { ANSWER: 0, AUTHORITY: 1, ADDITIONAL: 2 } as const

/** Offset of the question's name, to which owners point. */
export const QUESTION_OFFSET: number = HEADER_BYTES

const OPT_BYTES = 11
const NO_OPTIONS: readonly EdnsOption[] = []
const POINTER_BITS = 0xc000
const RECORDS_MAX = 0xffff
const { ANSWER, AUTHORITY } = SECTION
const { QR, TC, RD, CD } = FLAG
const { IN } = CLASS
/** An owner that is the question's name, as the upper half of a word. */
const QUESTION_OWNER = (POINTER_BITS | HEADER_BYTES) << 16
const ECHOED = 0x7800 | RD | CD

/** How to begin a reply. */
export type ReplyLimits = {
  /** Bytes that the reply may have, 512 to 65535. */
  readonly bytesMax: number
  /** UDP size to advertise, when the query has EDNS. */
  readonly udpBytes?: number
  /** Options to send along, when the query has EDNS. */
  readonly options?: readonly EdnsOption[]
  /** The DO bit, when the query has EDNS; the query's when left out. */
  readonly dnssecOk?: boolean
}

/** A reply being written. One record at a time: owner, then `beginRecord`, rdata, `endRecord`. */
export class ReplyWriter {
  /** The reply so far; a record may overrun the limit before it is taken back. */
  readonly bytes: Uint8Array = new Uint8Array(2 * MESSAGE_BYTES_MAX + 1026)
  private readonly words = new Int32Array(this.bytes.buffer)
  /** Bytes written. */
  length = 0
  private readonly view = new DataView(this.bytes.buffer)
  /** True once a record did not fit: what follows is left out. */
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

  /** Begins the reply to a query, echoing its question byte for byte when it was read. */
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
    // Up to three bytes too many, over which the first record is written.
    for (let i = HEADER_BYTES / 4; 4 * i < questionEnd; i++) words[i] = headWords[i] ?? 0
  }

  /** Bounds the TTLs of the records that follow, in seconds. */
  boundTtl(min: number, max: number): void {
    this.hasTtlBounds = true
    this.ttlMin = min
    this.ttlMax = max
  }

  /** Whether all records came with the same TTL, whatever it was bounded to. */
  get hasOneTtl(): boolean {
    return !this.isTtlMixed
  }

  /** Writes an owner that stands elsewhere in the reply, by its offset (under 16,384). */
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

  /** Begins a record whose owner is written next, by `writeName` or `writeJoinedName`. */
  beginOwner(): void {
    this.recordStart = this.length
  }

  /** Takes back the record being written, as if it had not been begun. */
  cancelRecord(): void {
    this.length = this.recordStart
    // Nothing may point at the names it had: from here on only those of the question are known.
    this.names.forget()
  }

  /** Writes what stands between a record's owner and its rdata. */
  beginRecord(type: number, rrClass: number, ttlSeconds: number): void {
    const { view, length } = this
    view.setInt32(length, (type << 16) | rrClass)
    view.setInt32(length + 4, this.boundedTtl(ttlSeconds))
    this.rdataStart = length + 10
    this.length = length + 10
  }

  /**
   * Writes a whole answer record at the question's name, class IN, whose rdata is at hand as
   * `count` little-endian words from `start`. When that is too large, ends the writing.
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

  /** Writes bytes of rdata as they are. */
  writeBytes(source: Uint8Array, start: number, size: number): void {
    const { bytes, length } = this
    for (let i = 0; i < size; i++) bytes[length + i] = source[start + i] ?? 0
    this.length = length + size
  }

  /** Writes bytes of rdata that are at hand as little-endian words. */
  writeWords(source: Int32Array, start: number, count: number): void {
    const { view, length } = this
    for (let i = 0; i < count; i++) view.setInt32(length + 4 * i, source[start + i] ?? 0, true)
    this.length = length + 4 * count
  }

  /** Writes an absolute name. `mayPoint`: whether its type may be compressed (RFC 3597 §4). */
  writeName(name: Uint8Array, mayPoint: boolean): void {
    this.length = this.names.write(this.length, name, mayPoint)
  }

  /**
   * Writes rdata that was made beforehand, as little-endian words; the last need not be whole.
   * Names after it do not point into it.
   */
  writeMade(words: Int32Array, size: number): void {
    const start = this.length
    this.writeWords(words, 0, (size + 3) >>> 2)
    this.length = start + size
  }

  /** Writes a pointer to an offset (under 16,384) over what stands at `at` in the reply. */
  writePointerAt(at: number, offset: number): void {
    this.view.setInt16(at, POINTER_BITS | offset)
  }

  /**
   * Writes `size` bytes of labels from `start`, joined to the absolute name `origin`. Returns
   * false, and writes nothing, when that is over 255 bytes.
   */
  writeJoinedName(labels: WordBytes, start: number, size: number, origin: SizedBytes): boolean {
    return this.writeJoined(labels, start, size, origin, true)
  }

  /** As `writeJoinedName`, without a pointer, for types that must not have one. */
  writeJoinedNameWhole(
    labels: WordBytes,
    start: number,
    size: number,
    origin: SizedBytes,
  ): boolean {
    return this.writeJoined(labels, start, size, origin, false)
  }

  /**
   * Ends a record: keeps it and returns true, or takes it back when the reply is too large with it
   * or was so before.
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
   * Ends the reply: OPT record and header. `flags` are the bits to set beside QR, the operation, RD
   * and CD, which come from the query. A `paddingBlock` over 0 pads to a multiple of it (RFC 8467).
   * Returns the reply's size.
   */
  finish(rcode: number, flags: number, paddingBlock = 0): number {
    const query = this.query
    if (query === undefined) throw new TypeError('Cannot finish a reply that was not begun')
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

  /** Sets and clears header bits of the reply that was finished last. */
  changeFlags(set: number, cleared: number): void {
    const { view } = this
    view.setUint16(2, (view.getUint16(2) & ~cleared) | set)
  }

  /** The TTL to write for one that a record comes with; notes whether all come with the same. */
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
