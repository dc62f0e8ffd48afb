/**
 * Matches responses with queries.
 * @module
 */
import { byteAt, LOWER, readUint16 } from '../bytes/bytes.ts'

/**
 * Returns whether a message is a response with the query's ID and question, ignoring case, or the
 * header alone of one with an error: so a server answers that cannot parse the query, or knows no
 * OPT record (RFC 6891 §7). Rejects other responses without a question: they are too easy to forge.
 */
export function answers(reply: Uint8Array, query: Uint8Array): boolean {
  if (reply.length < 12 || readUint16(reply, 0) !== readUint16(query, 0)) return false
  if ((readUint16(reply, 2) & 0x8000) === 0) return false
  if (readUint16(reply, 4) === 0) return reply.length === 12 && (byteAt(reply, 3) & 15) !== 0
  if (readUint16(reply, 4) !== 1) return false
  let end = 12
  while ((query[end] ?? 0) !== 0) end += (query[end] ?? 0) + 1
  if (reply.length < end + 5) return false
  for (let i = 12; i < end + 5; i++) {
    const fold = i < end
    const isSame = fold
      ? byteAt(LOWER, byteAt(reply, i)) === byteAt(LOWER, byteAt(query, i))
      : reply[i] === query[i]
    if (!isSame) return false
  }
  return true
}
