/**
 * Matches responses with queries.
 * @module
 */
import { byteAt, LOWER, readUint16 } from '../../dns/bytes/bytes.ts'
import { HEADER_BYTES } from '../../dns/names/limits.ts'
import { FLAG } from '../../dns/wire/query.ts'

/**
 * Returns whether a message is a response with the query's ID and question, ignoring case, or the
 * header alone of one with an error: so a server answers that cannot parse the query, or knows no
 * OPT record (RFC 6891 §7). Rejects other responses without a question: they are too easy to forge.
 */
export function answers(reply: Uint8Array, query: Uint8Array): boolean {
  if (isQuestionless(reply, query)) {
    return reply.length === HEADER_BYTES && (byteAt(reply, 3) & 15) !== 0
  }
  if (reply.length < HEADER_BYTES || readUint16(reply, 0) !== readUint16(query, 0)) return false
  if ((readUint16(reply, 2) & FLAG.QR) === 0) return false
  if (readUint16(reply, 4) !== 1) return false
  let end = HEADER_BYTES
  while ((query[end] ?? 0) !== 0) end += (query[end] ?? 0) + 1
  if (reply.length < end + 5) return false
  for (let i = HEADER_BYTES; i < end + 5; i++) {
    const fold = i < end
    const isSame = fold
      ? byteAt(LOWER, byteAt(reply, i)) === byteAt(LOWER, byteAt(query, i))
      : reply[i] === query[i]
    if (!isSame) return false
  }
  return true
}

/**
 * Returns whether a message is a response without a question, and with the query's ID. Over UDP it
 * would fit any query that has this ID.
 */
export function isQuestionless(reply: Uint8Array, query: Uint8Array): boolean {
  if (reply.length < HEADER_BYTES || readUint16(reply, 0) !== readUint16(query, 0)) return false
  return (readUint16(reply, 2) & FLAG.QR) !== 0 && readUint16(reply, 4) === 0
}

/**
 * Returns whether a message on a connection is the response to a query. One without a question
 * matches by its ID alone (RFC 7766 §7): nobody else can write to the connection.
 */
export function answersOnStream(reply: Uint8Array, query: Uint8Array): boolean {
  return answers(reply, query) || isQuestionless(reply, query)
}
