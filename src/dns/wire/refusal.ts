/**
 * Replies that need no plugins: to refused messages, and with an RCODE only.
 * @module
 */
import { writeUint16 } from '../bytes/bytes.ts'
import { HEADER_BYTES, MESSAGE_BYTES_MAX } from '../names/limits.ts'
import { RCODE } from '../names/rcode.ts'
import type { EdnsOption } from './edns.ts'
import { FLAG, type Query, type Refusal } from './query.ts'
import { ReplyWriter } from './reply-writer.ts'

/** Shared, because creating it takes far longer than using it. */
const writer = new ReplyWriter()

/**
 * Returns the reply to a refused message, or `undefined` for none. NOTIMP has a header only, with
 * the opcode, RD and CD (RFC 8906 §3.1.4); others have the question if it was parsed, and an OPT
 * record if the message had one (RFC 6891 §7): for BADVERS without DO, a flag of that version.
 * @param query the parts that were parsed before the refusal
 */
export function refusalReply(query: Query, refusal: Refusal): Uint8Array | undefined {
  if (refusal.rcode === undefined) return undefined
  if (refusal.rcode === RCODE.NOTIMP) return notImplementedReply(query)
  const dnssecOk = refusal.rcode === RCODE.BADVERS ? false : query.wantsDnssec
  writer.begin(query, { bytesMax: MESSAGE_BYTES_MAX, dnssecOk })
  return writer.bytes.slice(0, writer.finish(refusal.rcode, 0))
}

/**
 * Returns a reply without records, with the query's question and flags; not authoritative.
 * @param paddingBlock see `ReplyWriter.finish`
 */
export function rcodeReply(
  query: Query,
  rcode: number,
  options: readonly EdnsOption[] = [],
  paddingBlock = 0,
): Uint8Array {
  writer.begin(query, { bytesMax: MESSAGE_BYTES_MAX, options })
  return writer.bytes.slice(0, writer.finish(rcode, 0, paddingBlock))
}

function notImplementedReply(query: Query): Uint8Array {
  const reply = new Uint8Array(HEADER_BYTES)
  writeUint16(reply, 0, query.id)
  writeUint16(reply, 2, FLAG.QR | (query.flags & (0x7800 | FLAG.RD | FLAG.CD)) | RCODE.NOTIMP)
  return reply
}
