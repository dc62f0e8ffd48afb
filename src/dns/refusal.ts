/**
 * Replies that need no resolver: to what the gate refused, and of a bare response code.
 * @module
 */
import { writeUint16 } from '../bytes/bytes.ts'
import type { EdnsOption } from './edns.ts'
import { HEADER_BYTES, MESSAGE_BYTES_MAX } from './limits.ts'
import { FLAG, type Query, type Refusal } from './query.ts'
import { RCODE } from './rcode.ts'
import { ReplyWriter } from './reply-writer.ts'

/** One for all, as it takes far longer to create than to use. */
const writer = new ReplyWriter()

/**
 * Makes the reply to a refused message, or `undefined` when it gets none.
 * An operation that is not implemented gets a header only, with its operation and RD
 * (RFC 8906 §3.1.4); the others get their question back if it was read, and an OPT record if the
 * message had one (RFC 6891 §7).
 * @param query what the gate read before it refused
 */
export function refusalReply(query: Query, refusal: Refusal): Uint8Array | undefined {
  if (refusal.rcode === undefined) return undefined
  if (refusal.rcode === RCODE.NOTIMP) return notImplementedReply(query)
  return rcodeReply(query, refusal.rcode)
}

/**
 * Makes a reply without records, with the query's question and flags; not authoritative.
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
  writeUint16(reply, 2, FLAG.QR | (query.flags & (0x7800 | FLAG.RD)) | RCODE.NOTIMP)
  return reply
}
