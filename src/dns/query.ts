/**
 * The gate: reads a query from untrusted bytes, or says how to refuse it. Never throws.
 *
 * What is checked, in order (RFC 8906 §3.1, §8; RFC 9619):
 * 1. under 12 bytes, or a response: no answer at all, so that two servers cannot answer each other
 * 2. an operation other than QUERY, or another that is asked for: NOTIMP, before anything behind
 *    the header is read
 * 3. not exactly one question, a name that does not parse: FORMERR; a question that ends before its
 *    type or its class: REFUSED, as by CoreDNS, which takes them for 0
 * 4. more records than queries have, one that does not parse, options that overrun: FORMERR, and no
 *    OPT record, as by CoreDNS (RFC 6891 §7 would have one)
 * 5. an EDNS version over 0: BADVERS (RFC 6891 §6.1.3)
 *
 * Bytes behind the counted sections are ignored, and records that are counted where the message
 * ends. As for CoreDNS, the last of two OPT records counts, at whatever name (RFC 6891 §6.1.1 would
 * refuse these); one in another section than the additional is none.
 * @module
 */
import { byteAt, EMPTY, readUint16, type SizedBytes, tailMask } from '../bytes/bytes.ts'
import { OPTION } from './edns.ts'
import { HEADER_BYTES, LABELS_MAX, NAME_BYTES_MAX } from './limits.ts'
import { OPCODE, RCODE } from './rcode.ts'
import { TYPE } from './rr-type.ts'

/** Header bits of the second 16-bit word (RFC 1035 §4.1.1, RFC 2535 §6.1). */
export const FLAG = {
  QR: 0x8000,
  AA: 0x0400,
  TC: 0x0200,
  RD: 0x0100,
  RA: 0x0080,
  AD: 0x0020,
  CD: 0x0010,
} as const

const { QR } = FLAG
const { QUERY } = OPCODE
const { OPT, TKEY, TSIG } = TYPE
const NAME_END_MAX = HEADER_BYTES + NAME_BYTES_MAX
/** Room for a name, and for reading four bytes at its last one. */
const NAME_BUFFER_BYTES = 260
/** Bytes of a message that are copied: more than a header and a question can have. */
const HEAD_BYTES = 512
/** Records that CoreDNS takes: a serial to begin a transfer from, OPT and a signature. */
const ANSWERS_MAX = 1
const AUTHORITIES_MAX = 1
const ADDITIONAL_MAX = 2

/** What a message that is not a well-formed query gets. */
export type Refusal = {
  readonly kind: 'refusal'
  /** The response code, or `undefined` for no answer at all. */
  readonly rcode: number | undefined
  /** Whether the question was read and goes back. */
  readonly echoesQuestion: boolean
}

/**
 * A query, read once. Used again for the next message: keep none of its parts. `name`
 * and `labels` describe the query name in lower case; the original spelling stays in `bytes`.
 */
export class Query {
  readonly kind = 'query'
  /** The message. */
  bytes: Uint8Array = EMPTY
  /** Bytes of the message. */
  size = 0
  /** For all that is below: what a collector has to look after counts, not its size. */
  private readonly buffer = new ArrayBuffer(HEAD_BYTES + NAME_BUFFER_BYTES + LABELS_MAX)
  /** Its beginning, up to the end of the question at least, where it can be read as words. */
  readonly head: Uint8Array = new Uint8Array(this.buffer, 0, HEAD_BYTES)
  /** The same bytes as 32-bit words in the machine's order. */
  readonly headWords: Int32Array = new Int32Array(this.buffer, 0, HEAD_BYTES / 4)
  /** The same bytes for reads in the network's order. */
  readonly headView: DataView = new DataView(this.buffer, 0, HEAD_BYTES)
  id = 0
  /** The second 16-bit word of the header as it came. */
  flags = 0
  /** Query name in lower case, absolute, `nameBytes` bytes of this buffer. */
  readonly name: Uint8Array = new Uint8Array(this.buffer, HEAD_BYTES, NAME_BUFFER_BYTES)
  /** The same bytes as 32-bit words in the machine's order; those behind the name are anything. */
  readonly nameWords: Int32Array = new Int32Array(this.buffer, HEAD_BYTES, NAME_BUFFER_BYTES / 4)
  /** The same bytes for reads at any offset. */
  readonly nameView: DataView = new DataView(this.buffer, HEAD_BYTES, NAME_BUFFER_BYTES)
  nameBytes = 0
  /** Offset in `name` of each label's length byte, `labelCount` of them. */
  readonly labels: Uint8Array = new Uint8Array(this.buffer, HEAD_BYTES + NAME_BUFFER_BYTES)
  labelCount = 0
  type = 0
  class = 0
  /** Offset in `bytes` just behind the question; 0 when it was not read. */
  questionEnd = 0
  hasEdns = false
  /** The sender's UDP size as it says it, 0 without EDNS. */
  udpBytes = 0
  ednsVersion = 0
  /** Whether there are two OPT records, or one that is not at the root. */
  isOptOdd = false
  wantsDnssec = false
  /** Offset in `bytes` and size of the OPT record's options. */
  optionsStart = 0
  optionsBytes = 0
  /** Whether the padding option (RFC 7830) came along. */
  wantsPadding = false
  /** Whether the option that asks for the server's identifier (RFC 5001) came along. */
  wantsNsid = false
}

const DROP: Refusal = { kind: 'refusal', rcode: undefined, echoesQuestion: false }
const NOT_IMPLEMENTED: Refusal = { kind: 'refusal', rcode: RCODE.NOTIMP, echoesQuestion: false }
const FORMAT_ERROR: Refusal = { kind: 'refusal', rcode: RCODE.FORMERR, echoesQuestion: false }
const FORMAT_ERROR_ECHO: Refusal = { kind: 'refusal', rcode: RCODE.FORMERR, echoesQuestion: true }
const NO_TYPE_OR_CLASS: Refusal = { kind: 'refusal', rcode: RCODE.REFUSED, echoesQuestion: false }
const BAD_VERSION: Refusal = { kind: 'refusal', rcode: RCODE.BADVERS, echoesQuestion: true }

/**
 * Reads a query into `into` and returns it, or a refusal; `into` then holds what was read up to
 * there. Holds a reference to `bytes` until the next call.
 */
export function parseQuery(
  bytes: Uint8Array,
  into: Query = new Query(),
  opcode: number = QUERY,
): Query | Refusal {
  const size = bytes.length
  into.bytes = bytes
  into.size = size
  into.questionEnd = 0
  if (into.hasEdns) clearEdns(into)
  if (size < HEADER_BYTES) return DROP
  copyHead(into, size)
  const { headView } = into
  const first = headView.getInt32(0)
  const flags = first & 0xffff
  into.id = first >>> 16
  into.flags = flags
  if ((flags & QR) !== 0) return DROP
  if (((flags >>> 11) & 15) !== opcode) return NOT_IMPLEMENTED
  const counts = headView.getInt32(4)
  if (counts >>> 16 !== 1) return FORMAT_ERROR
  const end = readQuestion(into, size)
  if (end < 0) return FORMAT_ERROR
  if (end > size) return (end - size) % 2 === 0 ? NO_TYPE_OR_CLASS : FORMAT_ERROR
  into.questionEnd = end
  const hasRecords = ((counts & 0xffff) | headView.getInt32(8)) !== 0
  if (hasRecords && !readRecords(into)) {
    clearEdns(into)
    return FORMAT_ERROR_ECHO
  }
  // The refusal has an OPT record as well.
  if (isNoQuestionType(into.type)) return FORMAT_ERROR_ECHO
  return into.ednsVersion === 0 ? into : BAD_VERSION
}

/**
 * Tells whether a query's name is in a zone, which is absolute and in lower case. Allocates
 * nothing.
 */
export function isWithinZone(query: Query, zone: Uint8Array): boolean {
  const { name, labels } = query
  const start = query.nameBytes - zone.length
  if (start < 0) return false
  if (zone.length === 1) return true
  for (let i = 0; i < zone.length; i++) {
    if (name[start + i] !== zone[i]) return false
  }
  // The same bytes may also stand in the middle of a label, which is no end of the name.
  for (let i = query.labelCount - 1; i >= 0; i--) {
    const label = labels[i] ?? 0
    if (label <= start) return label === start
  }
  return false
}

/** As `isWithinZone`, for a zone that is at hand as words. */
export function endsIn(
  { nameView, nameBytes, labels, labelCount }: Query,
  zone: SizedBytes,
): boolean {
  const { size, words } = zone
  const start = nameBytes - size
  if (start < 0) return false
  if (size === 1) return true
  let label = labelCount - 1
  while (label >= 0 && (labels[label] ?? 0) > start) label--
  if (label < 0 || labels[label] !== start) return false
  const whole = size >>> 2
  for (let i = 0; i < whole; i++) {
    if (nameView.getInt32(start + 4 * i, true) !== words[i]) return false
  }
  if ((size & 3) === 0) return true
  const differing = nameView.getInt32(start + 4 * whole, true) ^ (words[whole] ?? 0)
  return (differing & tailMask(size)) === 0
}

/** TKEY and TSIG are no types to ask for without what they secure (RFC 2930 §2, RFC 8945 §4.2). */
const isNoQuestionType = (type: number): boolean => type === TKEY || type === TSIG

const clearEdns = (query: Query): void => {
  query.hasEdns = false
  query.udpBytes = 0
  query.ednsVersion = 0
  query.isOptOdd = false
  query.wantsDnssec = false
  query.optionsStart = 0
  query.optionsBytes = 0
  query.wantsPadding = false
  query.wantsNsid = false
}

/** Copies the beginning of the message, as far as a header and a question may go. */
const copyHead = ({ bytes, head }: Query, size: number): void => {
  if (size <= HEAD_BYTES) head.set(bytes)
  else for (let i = 0; i < HEAD_BYTES; i++) head[i] = bytes[i] ?? 0
}

/**
 * Reads the question; a compression pointer cannot occur: nothing stands before the first name
 * (RFC 1035 §4.1.4).
 * @returns where the question ends, which may be behind the message; -1 for a malformed name
 */
const readQuestion = (query: Query, size: number): number => {
  const { head, labels } = query
  let at = HEADER_BYTES
  let labelCount = 0
  for (;;) {
    if (at >= size) return -1
    const length = head[at] ?? 0
    const end = at + length + 1
    if (length > 63 || end > NAME_END_MAX || end > size) return -1
    if (length === 0) break
    labels[labelCount++] = at - HEADER_BYTES
    at = end
  }
  const questionEnd = at + 5
  if (questionEnd > size) return questionEnd
  const typeAndClass = query.headView.getInt32(at + 1)
  query.nameBytes = at + 1 - HEADER_BYTES
  query.labelCount = labelCount
  query.type = typeAndClass >>> 16
  query.class = typeAndClass & 0xffff
  lowerName(query)
  return questionEnd
}

/**
 * Copies the name in lower case, four bytes at a time: where one is from A to Z, one of two sums
 * runs over into its highest bit and the other does not. Lengths are no letters.
 */
const lowerName = ({ headWords, nameWords, nameBytes }: Query): void => {
  const count = (nameBytes + 3) >>> 2
  for (let i = 0; i < count; i++) {
    const four = headWords[HEADER_BYTES / 4 + i] ?? 0
    const low = four & 0x7f7f7f7f
    const fromA = low + 0x3f3f3f3f
    const pastZ = low + 0x25252525
    nameWords[i] = four | ((fromA & ~pastZ & ~four & 0x80808080) >>> 2)
  }
}

/**
 * Steps over all records behind the question and reads the OPT record; false when one is malformed,
 * or there are too many.
 */
const readRecords = (query: Query): boolean => {
  const { bytes } = query
  const answers = readUint16(bytes, 6)
  const authorities = readUint16(bytes, 8)
  const additional = readUint16(bytes, 10)
  if (answers > ANSWERS_MAX || authorities > AUTHORITIES_MAX || additional > ADDITIONAL_MAX) {
    return false
  }
  const before = answers + authorities
  let at = query.questionEnd
  for (let i = 0; i < before + additional && at < bytes.length; i++) {
    const start = at
    at = skipName(bytes, at)
    if (at < 0 || at + 10 > bytes.length) return false
    const end = at + 10 + readUint16(bytes, at + 8)
    if (end > bytes.length) return false
    if (i >= before && readUint16(bytes, at) === OPT) {
      const isOdd = query.hasEdns || at > start + 1
      if (!readOpt(query, at, end)) return false
      query.isOptOdd = isOdd
    }
    at = end
  }
  return true
}

const readOpt = (query: Query, at: number, end: number): boolean => {
  const { bytes } = query
  if (query.hasEdns) clearEdns(query)
  query.hasEdns = true
  query.udpBytes = readUint16(bytes, at + 2)
  query.ednsVersion = byteAt(bytes, at + 5)
  query.wantsDnssec = (readUint16(bytes, at + 6) & 0x8000) !== 0
  query.optionsStart = at + 10
  query.optionsBytes = end - at - 10
  let option = at + 10
  while (option < end) {
    if (option + 4 > end) return false
    const code = readUint16(bytes, option)
    if (code === OPTION.PADDING) query.wantsPadding = true
    if (code === OPTION.NSID) query.wantsNsid = true
    option += 4 + readUint16(bytes, option + 2)
  }
  return option === end
}

/**
 * Steps over a name that may end in a pointer, which must point before the name; -1 if malformed.
 */
const skipName = (bytes: Uint8Array, start: number): number => {
  let at = start
  while (at < bytes.length) {
    const length = byteAt(bytes, at)
    if (length === 0) return at + 1
    if (length >= 0xc0) {
      if (at + 2 > bytes.length) return -1
      const target = readUint16(bytes, at) & 0x3fff
      return target >= HEADER_BYTES && target < start ? at + 2 : -1
    }
    at += length + 1
    // A root or a pointer follows, and a pointer stands for one byte at least.
    if (length > 63 || at + 1 - start > NAME_BYTES_MAX) return -1
  }
  return -1
}
