/**
 * Messages as records, for everything but the fast path: forwarding, caching, rewriting.
 * @module
 */
import { equalBytes, readUint16 } from '../bytes/bytes.ts'
import { HEADER_BYTES } from '../names/limits.ts'
import { equalNames } from '../names/name.ts'
import { TYPE } from '../names/rr-type.ts'
import { type EdnsOption, parseOptions } from './edns.ts'
import { FLAG, type Query } from './query.ts'
import { readRdata, WireReader, writeRdata } from './rdata-wire.ts'
import { type ReplyLimits, type ReplyWriter, SECTION } from './reply-writer.ts'

/** A record; its names are absolute and uncompressed, also in the rdata of known types. */
export type ResourceRecord = {
  readonly owner: Uint8Array
  readonly type: number
  readonly class: number
  readonly ttlSeconds: number
  readonly rdata: Uint8Array
}

/** Returns whether two records have the same owner, in any letter case, type and rdata. */
export function isSameRecord(a: ResourceRecord, b: ResourceRecord): boolean {
  return a.type === b.type && equalNames(a.owner, b.owner) && equalBytes(a.rdata, b.rdata)
}

/** A question. */
export type Question = { readonly name: Uint8Array; readonly type: number; readonly class: number }

/** Records and flags of a response, without the fields that the query determines. */
export type Reply = {
  readonly kind: 'reply'
  readonly rcode: number
  readonly authoritative: boolean
  readonly recursionAvailable: boolean
  readonly authenticData: boolean
  readonly truncated: boolean
  /** RD; the query's if absent. */
  readonly recursionDesired?: boolean | undefined
  /**
   * Its source: `snapshot` for local data that can change at any time and must not be cached,
   * `upstream` for another server's response, `server` for anything else.
   */
  readonly origin: 'server' | 'snapshot' | 'upstream'
  readonly answer: readonly ResourceRecord[]
  readonly authority: readonly ResourceRecord[]
  /** Without the OPT record. */
  readonly additional: readonly ResourceRecord[]
  /** Options of the OPT record, if the query has one. */
  readonly options: readonly EdnsOption[]
  /**
   * Whether the OPT record has DO although the query has not (against RFC 3225 §3): CoreDNS does so
   * if a plugin creates the record.
   */
  readonly dnssecOk?: true
  /** The question's name in another letter case than in the query. */
  readonly questionName?: Uint8Array
}

/** A response of another server. */
export type Response = Reply & { readonly id: number; readonly question: Question | undefined }

/** A reply without records, to start from. */
export const EMPTY_REPLY: Reply = {
  kind: 'reply',
  rcode: 0,
  authoritative: false,
  recursionAvailable: false,
  authenticData: false,
  truncated: false,
  origin: 'server',
  answer: [],
  authority: [],
  additional: [],
  options: [],
}

/** Parses a response from untrusted bytes; `undefined` if it is malformed. Never throws. */
export function parseResponse(bytes: Uint8Array): Response | undefined {
  return parseBySections(bytes, readSection)
}

/**
 * As `parseResponse`, for a message that is certainly whole, as those over TCP and HTTPS: takes one
 * that ends between two records although its counts promise more. Some servers count records that
 * they leave out.
 */
export function parseWholeResponse(bytes: Uint8Array): Response | undefined {
  return parseBySections(bytes, readSectionToEnd)
}

function parseBySections(bytes: Uint8Array, read: typeof readSection): Response | undefined {
  if (bytes.length < HEADER_BYTES) return undefined
  const flags = readUint16(bytes, 2)
  if ((flags & FLAG.QR) === 0 || readUint16(bytes, 4) > 1) return undefined
  const reader = new WireReader(bytes, HEADER_BYTES)
  const question = readUint16(bytes, 4) === 1 ? readQuestion(reader) : undefined
  const answer = read(reader, readUint16(bytes, 6))
  const authority = read(reader, readUint16(bytes, 8))
  const rest = read(reader, readUint16(bytes, 10))
  if (reader.isBroken) return undefined
  const opt = rest.find((record) => record.type === TYPE.OPT)
  return {
    kind: 'reply',
    id: readUint16(bytes, 0),
    question,
    rcode: (flags & 15) | (opt === undefined ? 0 : (opt.ttlSeconds >>> 24) << 4),
    authoritative: (flags & FLAG.AA) !== 0,
    recursionAvailable: (flags & FLAG.RA) !== 0,
    authenticData: (flags & FLAG.AD) !== 0,
    truncated: (flags & FLAG.TC) !== 0,
    origin: 'upstream',
    answer,
    authority,
    additional: rest.filter((record) => record.type !== TYPE.OPT),
    options: opt === undefined ? [] : parseOptions(opt.rdata, 0, opt.rdata.length),
  }
}

/** Writes a reply to `query` with `writer` and returns its size. Truncates it to the size limit. */
export function writeReply(
  writer: ReplyWriter,
  query: Query,
  reply: Reply,
  limits: ReplyLimits,
  paddingBlock = 0,
): number {
  const { options, dnssecOk = query.wantsDnssec } = reply
  writer.begin(query, { ...limits, options, dnssecOk })
  writeSection(writer, SECTION.ANSWER, reply.answer)
  writeSection(writer, SECTION.AUTHORITY, reply.authority)
  writeSection(writer, SECTION.ADDITIONAL, reply.additional)
  const flags =
    (reply.authoritative ? FLAG.AA : 0) |
    (reply.recursionAvailable ? FLAG.RA : 0) |
    (reply.authenticData ? FLAG.AD : 0) |
    (reply.truncated ? FLAG.TC : 0)
  const size = writer.finish(reply.rcode, flags, paddingBlock)
  const { recursionDesired, questionName } = reply
  if (recursionDesired === true) writer.changeFlags(FLAG.RD, 0)
  if (recursionDesired === false) writer.changeFlags(0, FLAG.RD)
  if (questionName !== undefined) writer.bytes.set(questionName, HEADER_BYTES)
  return size
}

function writeSection(
  writer: ReplyWriter,
  section: number,
  records: readonly ResourceRecord[],
): void {
  for (const record of records) {
    if (writer.isFull) return
    writer.beginOwner()
    writer.writeName(record.owner, true)
    writer.beginRecord(record.type, record.class, record.ttlSeconds)
    writeRdata(writer, record.type, record.rdata)
    writer.endRecord(section)
  }
}

function readQuestion(reader: WireReader): Question {
  return { name: reader.name(), type: reader.uint16(), class: reader.uint16() }
}

/** Reads records until one is missing: allocates nothing by the message's own counts. */
function readSection(reader: WireReader, count: number): ResourceRecord[] {
  const records: ResourceRecord[] = []
  for (let i = 0; i < count && !reader.isBroken; i++) readRecord(reader, records)
  return records
}

/** As `readSection`; ends where the message does. */
function readSectionToEnd(reader: WireReader, count: number): ResourceRecord[] {
  const records: ResourceRecord[] = []
  for (let i = 0; i < count && !reader.isBroken && reader.at < reader.bytes.length; i++) {
    readRecord(reader, records)
  }
  return records
}

function readRecord(reader: WireReader, records: ResourceRecord[]): void {
  const owner = reader.name()
  const type = reader.uint16()
  const rrClass = reader.uint16()
  const ttlSeconds = reader.uint32()
  const size = reader.uint16()
  const rdata = reader.isBroken ? undefined : readRdata(reader, type, size)
  if (rdata === undefined) reader.isBroken = true
  else records.push({ owner, type, class: rrClass, ttlSeconds, rdata })
}
