/**
 * Queries a DNS-over-HTTPS server (RFC 8484 §4).
 * @module
 */
import { encodeBase64url } from '../../dns/bytes/base64url.ts'
import {
  byteAt,
  concatBytes,
  readUint16,
  readUint32,
  writeUint16,
  writeUint32,
} from '../../dns/bytes/bytes.ts'
import { HEADER_BYTES, MESSAGE_BYTES_MAX } from '../../dns/names/limits.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import { mediaType, WIRE_TYPE } from './negotiate.ts'

/** An HTTP request with a query. */
export type DohRequest = {
  readonly method: 'GET' | 'POST'
  readonly headers: Record<string, string>
  readonly body?: Uint8Array<ArrayBuffer>
  readonly redirect: 'manual'
  readonly signal: AbortSignal
}

/** What a query needs of the runtime. */
type DohClient = {
  readonly fetch: (url: string, request: DohRequest) => Promise<Response>
  /** Aborts the query when it takes too long. */
  readonly signal: AbortSignal
  /** `POST` when left out. */
  readonly method?: 'GET' | 'POST'
  /** Sent as `Authorization: Bearer`; none when undefined. */
  readonly token?: string | undefined
}

/**
 * Sends a query and resolves with the response, its TTLs reduced by its age in HTTP caches. Sends
 * the query with ID 0, so that caches recognize equal queries (RFC 8484 §4.1).
 * @throws {Error} for a failure; does not follow redirects
 */
export async function askDoh(
  url: string,
  message: Uint8Array,
  client: DohClient,
): Promise<Uint8Array> {
  const body = new Uint8Array(message)
  writeUint16(body, 0, 0)
  const { method = 'POST', signal, token } = client
  const response = await client.fetch(method === 'GET' ? withQuery(url, body) : url, {
    method,
    headers: {
      accept: WIRE_TYPE,
      ...(method === 'POST' && { 'content-type': WIRE_TYPE }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(method === 'POST' && { body }),
    redirect: 'manual',
    signal,
  })
  if (response.status !== 200) throw new Error(`HTTP status ${response.status}`)
  const type = mediaType(response.headers.get('content-type') ?? undefined)
  if (type !== WIRE_TYPE) throw new Error(`content type "${type}", expected ${WIRE_TYPE}`)
  const reply = await readReply(response)
  if (reply.length < HEADER_BYTES) throw new Error(`${reply.length} bytes are no message`)
  const age = response.headers.get('age') ?? ''
  // Ignores an invalid age (RFC 9111 §5.1).
  if (/^\d+$/.test(age)) ageMessage(reply, Number(age))
  writeUint16(reply, 0, readUint16(message, 0))
  return reply
}

/** Returns the URL with the query as parameter `dns` (RFC 8484 §4.1.1). */
function withQuery(url: string, message: Uint8Array): string {
  const target = new URL(url)
  target.searchParams.set('dns', encodeBase64url(message))
  return target.href
}

/** Reads a body of at most one message, which bounds the memory that a server can use. */
async function readReply(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MESSAGE_BYTES_MAX) throw new Error(`over ${MESSAGE_BYTES_MAX} bytes are no message`)
    chunks.push(chunk)
  }
  return concatBytes(...chunks)
}

/**
 * Subtracts `seconds` from the TTL of every record but OPT, in place, down to zero. In a malformed
 * message, leaves the part after the error unchanged.
 */
export function ageMessage(bytes: Uint8Array, seconds: number): void {
  if (bytes.length < HEADER_BYTES || seconds <= 0) return
  let at = HEADER_BYTES
  for (let left = readUint16(bytes, 4); left > 0; left--) {
    at = skipName(bytes, at) + 4
    if (at < HEADER_BYTES) return
  }
  let records = readUint16(bytes, 6) + readUint16(bytes, 8) + readUint16(bytes, 10)
  for (; records > 0; records--) {
    at = skipName(bytes, at)
    if (at < 0 || at + 10 > bytes.length) return
    if (readUint16(bytes, at) !== TYPE.OPT) {
      writeUint32(bytes, at + 4, Math.max(0, readUint32(bytes, at + 4) - seconds))
    }
    at += 10 + readUint16(bytes, at + 8)
  }
}

/** Returns the offset after a name; far below zero if the name exceeds the message. */
export function skipName(bytes: Uint8Array, start: number): number {
  let at = start
  while (at < bytes.length) {
    const length = byteAt(bytes, at)
    if (length === 0) return at + 1
    if (length >= 0xc0) return at + 2
    at += length + 1
  }
  return -HEADER_BYTES
}
