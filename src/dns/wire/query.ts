/**
 * Parses a query from untrusted bytes, or returns how to refuse it. Never throws.
 *
 * Checks, in this order (RFC 8906 §3.1, §8; RFC 9619):
 * 1. under 12 bytes, or a response: no response at all, so that two servers cannot form a loop
 * 2. an opcode that the caller does not accept: NOTIMP, before parsing anything after the header
 * 3. not exactly one question, or a malformed name: FORMERR; a question without a type or a class:
 *    REFUSED, as in CoreDNS, which reads them as 0
 * 4. more records than a query has, a malformed record or malformed options: FORMERR without an OPT
 *    record, as in CoreDNS (RFC 6891 §7 requires one)
 * 5. an EDNS version over 0: BADVERS (RFC 6891 §6.1.3)
 *
 * Ignores bytes after the counted sections, and counted records after the end of the message. As in
 * CoreDNS, the last of several OPT records wins, at any name (RFC 6891 §6.1.1 requires FORMERR); an
 * OPT record outside the additional section is ignored.
 * @module
 */
import { byteAt, EMPTY, readUint16, type SizedBytes, tailMask } from '../bytes/bytes.ts'
import { HEADER_BYTES, LABELS_MAX, NAME_BYTES_MAX } from '../names/limits.ts'
import { OPCODE, RCODE } from '../names/rcode.ts'
import { TYPE } from '../names/rr-type.ts'
import { OPTION } from './edns.ts'

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
/** Buffer size for a name, with room for reading four bytes at its last one. */
const NAME_BUFFER_BYTES = 260
/** Bytes of a message that are copied: more than the maximum of header and question. */
const HEAD_BYTES = 512
/** Maximum number of records, as in CoreDNS: the SOA of an IXFR, OPT and TSIG. */
const ANSWERS_MAX = 1
const AUTHORITIES_MAX = 1
const ADDITIONAL_MAX = 2

/** The response to a message that is not a well-formed query. */
export type Refusal = {
  readonly kind: 'refusal'
  /** The RCODE, or `undefined` for no response. */
  readonly rcode: number | undefined
}

/**
 * A parsed query. The parser reuses it for the next message: keep none of its parts. `name` and
 * `labels` describe the query name in lower case; `bytes` has the original spelling.
 */
export class Query {
  readonly kind = 'query'
  /** The message. */
  bytes: Uint8Array = EMPTY
  /** Bytes of the message. */
  size = 0
  /** One buffer for all arrays below: the garbage collector's cost grows with their number. */
  private readonly buffer = new ArrayBuffer(HEAD_BYTES + NAME_BUFFER_BYTES + LABELS_MAX)
  /** The first bytes, at least to the end of the question, in memory readable as words. */
  readonly head: Uint8Array = new Uint8Array(this.buffer, 0, HEAD_BYTES)
  /** The same bytes as 32-bit words in machine byte order. */
  readonly headWords: Int32Array = new Int32Array(this.buffer, 0, HEAD_BYTES / 4)
  /** The same bytes for reads in network byte order. */
  readonly headView: DataView = new DataView(this.buffer, 0, HEAD_BYTES)
  id = 0
  /** The second 16-bit word of the header. */
  flags = 0
  /** Query name in lower case, absolute, `nameBytes` bytes of this buffer. */
  readonly name: Uint8Array = new Uint8Array(this.buffer, HEAD_BYTES, NAME_BUFFER_BYTES)
  /** The same bytes as 32-bit words in machine byte order; bytes after the name are undefined. */
  readonly nameWords: Int32Array = new Int32Array(this.buffer, HEAD_BYTES, NAME_BUFFER_BYTES / 4)
  /** The same bytes for reads at any offset. */
  readonly nameView: DataView = new DataView(this.buffer, HEAD_BYTES, NAME_BUFFER_BYTES)
  nameBytes = 0
  /** Offset in `name` of each label's length byte, `labelCount` of them. */
  readonly labels: Uint8Array = new Uint8Array(this.buffer, HEAD_BYTES + NAME_BUFFER_BYTES)
  labelCount = 0
  type = 0
  class = 0
  /** Offset in `bytes` of the end of the question; 0 if it was not parsed. */
  questionEnd = 0
  hasEdns = false
  /** The client's UDP size, 0 without EDNS. */
  udpBytes = 0
  ednsVersion = 0
  /** Whether there are several OPT records, or one whose owner is not the root. */
  isOptOdd = false
  wantsDnssec = false
  /** Offset in `bytes` and size of the OPT record's options. */
  optionsStart = 0
  optionsBytes = 0
  /** Whether the query has the padding option (RFC 7830). */
  wantsPadding = false
  /** Whether the query has the NSID option (RFC 5001). */
  wantsNsid = false
}

const DROP: Refusal = { kind: 'refusal', rcode: undefined }
const NOT_IMPLEMENTED: Refusal = { kind: 'refusal', rcode: RCODE.NOTIMP }
const FORMAT_ERROR: Refusal = { kind: 'refusal', rcode: RCODE.FORMERR }
const NO_TYPE_OR_CLASS: Refusal = { kind: 'refusal', rcode: RCODE.REFUSED }
const BAD_VERSION: Refusal = { kind: 'refusal', rcode: RCODE.BADVERS }

/**
 * Parses a query into `into` and returns it, or a refusal; `into` then has the parts before the
 * error. Holds a reference to `bytes` until the next call.
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
    return FORMAT_ERROR
  }
  // The refusal has an OPT record too.
  if (isNoQuestionType(into.type)) return FORMAT_ERROR
  return into.ednsVersion === 0 ? into : BAD_VERSION
}

/** Returns whether a query's name is in a zone, absolute and in lower case. Allocates nothing. */
export function isWithinZone(query: Query, zone: Uint8Array): boolean {
  const { name, labels } = query
  const start = query.nameBytes - zone.length
  if (start < 0) return false
  if (zone.length === 1) return true
  for (let i = 0; i < zone.length; i++) {
    if (name[start + i] !== zone[i]) return false
  }
  // The same bytes can also be in the middle of a label.
  for (let i = query.labelCount - 1; i >= 0; i--) {
    const label = labels[i] ?? 0
    if (label <= start) return label === start
  }
  return false
}

/** Like `isWithinZone`, for a zone as words. */
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

/** TKEY and TSIG are not valid query types (RFC 2930 §2, RFC 8945 §4.2). */
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

/** Copies the first bytes of the message, at most the maximum of header and question. */
const copyHead = ({ bytes, head }: Query, size: number): void => {
  if (size <= HEAD_BYTES) head.set(bytes)
  else for (let i = 0; i < HEAD_BYTES; i++) head[i] = bytes[i] ?? 0
}

/**
 * Parses the question. Rejects compression pointers: there is no earlier name to point to (RFC 1035
 * §4.1.4).
 * @returns the end of the question, which can exceed the message; -1 for a malformed name
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
 * Copies the name in lower case, four bytes at a time: only for a byte from A to Z does one of two
 * sums carry into its highest bit and the other not. Length bytes are below A.
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
 * Skips the records after the question and parses the OPT record; false if one is malformed, or
 * there are too many.
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

/** Returns the offset after a name, which can end in a backward pointer; -1 if malformed. */
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
    // A root or a pointer follows, and a pointer expands to at least one byte.
    if (length > 63 || at + 1 - start > NAME_BYTES_MAX) return -1
  }
  return -1
}
