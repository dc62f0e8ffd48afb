/**
 * How long HTTP caches may keep a response (RFC 8484 §5.1, RFC 2308 §5).
 * @module
 */
import { byteAt, readUint16, readUint32 } from '../bytes/bytes.ts'
import { HEADER_BYTES } from '../dns/limits.ts'
import { FLAG } from '../dns/query.ts'
import { RCODE } from '../dns/rcode.ts'
import { TYPE } from '../dns/rr-type.ts'

/**
 * Returns the seconds that a response of ours stays fresh: the smallest of the TTLs in its answer
 * section and of the negative TTL of an SOA record. 0 for errors and truncated responses, and for
 * those without either.
 */
export function freshSeconds(reply: Uint8Array): number {
  const flags = readUint16(reply, 2)
  const rcode = flags & 15
  const isFinal = rcode === RCODE.NOERROR || rcode === RCODE.NXDOMAIN
  if (!isFinal || (flags & FLAG.TC) !== 0) return 0
  let at = HEADER_BYTES
  if (readUint16(reply, 4) === 1) at = skipName(reply, at) + 4
  const answers = readUint16(reply, 6)
  const total = answers + readUint16(reply, 8)
  let seconds = Number.POSITIVE_INFINITY
  for (let i = 0; i < total; i++) {
    at = skipName(reply, at)
    const isSoa = readUint16(reply, at) === TYPE.SOA
    const ttlSeconds = readUint32(reply, at + 4)
    const end = at + 10 + readUint16(reply, at + 8)
    if (i < answers) seconds = Math.min(seconds, ttlSeconds)
    else if (isSoa) seconds = Math.min(seconds, ttlSeconds, readUint32(reply, end - 4))
    at = end
  }
  return Number.isFinite(seconds) ? seconds : 0
}

/** Returns the end of a name in a message that we wrote. */
function skipName(bytes: Uint8Array, start: number): number {
  let at = start
  for (;;) {
    const length = byteAt(bytes, at)
    if (length >= 0xc0) return at + 2
    at += length + 1
    if (length === 0) return at
  }
}
