/**
 * Cache entries as bytes, for a file that survives a restart. Numbers are big-endian:
 *
 * ```
 * size of what follows (4) | half, positive (1) | TTL (4) | stored, ms since 1970 (8)
 * size of the key (2) | key in UTF-8 | the reply as a message without names compressed
 * ```
 * @module
 */
import { HEADER_BYTES, MESSAGE_BYTES_MAX } from '../../../dns/names/limits.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { parseResponse, type Reply, type ResourceRecord } from '../../../dns/wire/message.ts'
import { FLAG } from '../../../dns/wire/query.ts'
import type { Half } from './metrics.ts'
import type { Entry } from './store.ts'

/** Size, half, TTL, time and size of the key. */
const HEAD_BYTES = 19
const DENIAL = 1
const POSITIVE = 2
/** Bytes of a record besides its owner and rdata. */
const RECORD_BYTES = 10
/** An OPT record, which has the upper bits of the response code (RFC 6891 §6.1.3). */
const EMPTY_OPT: ResourceRecord = {
  owner: new Uint8Array(1),
  type: TYPE.OPT,
  class: 0,
  ttlSeconds: 0,
  rdata: new Uint8Array(0),
}

/** An entry, apart from its use in this process. */
export type SavedEntry = Pick<Entry, 'ttlSeconds' | 'isAnswer'> & {
  readonly reply: Reply
  readonly key: string
  readonly half: Half
  /** When it was stored, in milliseconds since 1970. */
  readonly storedDateMs: number
}

const ENCODER = new TextEncoder()
const DECODER = new TextDecoder()

/** Writes an entry; returns no bytes for one that a message cannot represent. */
export function writeEntry(saved: SavedEntry): Uint8Array {
  const { half, isAnswer, ttlSeconds, storedDateMs, reply } = saved
  const key = ENCODER.encode(saved.key)
  const records = recordsOf(reply)
  const messageAt = HEAD_BYTES + key.length
  const end = records.reduce((at, one) => at + sizeOf(one), messageAt + HEADER_BYTES)
  if (key.length > 0xffff || end - messageAt > MESSAGE_BYTES_MAX) {
    return new Uint8Array(0)
  }
  const bytes = new Uint8Array(end)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, end - 4)
  bytes[4] = (half === 'denial' ? DENIAL : 0) | (isAnswer ? POSITIVE : 0)
  view.setUint32(5, ttlSeconds)
  view.setFloat64(9, storedDateMs)
  view.setUint16(17, key.length)
  bytes.set(key, HEAD_BYTES)
  writeHeader(view, messageAt, reply)
  let at = messageAt + HEADER_BYTES
  for (const record of records) {
    writeRecord(view, at, record)
    at += sizeOf(record)
  }
  return bytes
}

/** Reads entries that `writeEntry` wrote; ends at the first one that is not valid. */
export function* readEntries(bytes: Uint8Array): Generator<SavedEntry> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let at = 0
  while (at + HEAD_BYTES <= bytes.length) {
    const end = at + 4 + view.getUint32(at)
    const keyEnd = at + HEAD_BYTES + view.getUint16(at + 17)
    if (keyEnd > end || end > bytes.length) return
    const kind = view.getUint8(at + 4)
    const response = parseResponse(bytes.subarray(keyEnd, end))
    if (response === undefined) return
    const { id: _, question: __, ...reply } = response
    yield {
      key: DECODER.decode(bytes.subarray(at + HEAD_BYTES, keyEnd)),
      half: (kind & DENIAL) === 0 ? 'success' : 'denial',
      isAnswer: (kind & POSITIVE) !== 0,
      ttlSeconds: view.getUint32(at + 5),
      storedDateMs: view.getFloat64(at + 9),
      reply,
    }
    at = end
  }
}

/** Lists the records of a message without the options, which belong to one client. */
function recordsOf({ rcode, answer, authority, additional }: Reply): readonly ResourceRecord[] {
  const records = [...answer, ...authority, ...additional]
  if (rcode > 15) records.push({ ...EMPTY_OPT, ttlSeconds: (rcode >>> 4) << 24 })
  return records
}

function writeHeader(view: DataView, at: number, reply: Reply): void {
  const { rcode, answer, authority, additional } = reply
  const flags =
    (reply.authoritative ? FLAG.AA : 0) |
    (reply.recursionAvailable ? FLAG.RA : 0) |
    (reply.authenticData ? FLAG.AD : 0)
  view.setUint16(at + 2, FLAG.QR | flags | (rcode & 15))
  view.setUint16(at + 6, answer.length)
  view.setUint16(at + 8, authority.length)
  view.setUint16(at + 10, additional.length + (rcode > 15 ? 1 : 0))
}

function sizeOf({ owner, rdata }: ResourceRecord): number {
  return owner.length + RECORD_BYTES + rdata.length
}

function writeRecord(view: DataView, start: number, record: ResourceRecord): void {
  const { owner, type, class: rrClass, ttlSeconds, rdata } = record
  const bytes = new Uint8Array(view.buffer)
  const at = start + owner.length
  bytes.set(owner, start)
  view.setUint16(at, type)
  view.setUint16(at + 2, rrClass)
  view.setUint32(at + 4, ttlSeconds)
  view.setUint16(at + 8, rdata.length)
  bytes.set(rdata, at + RECORD_BYTES)
}
