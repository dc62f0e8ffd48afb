/**
 * Queries a server over gRPC (github.com/coredns/coredns, plugin/grpc/proxy.go).
 * @module
 */
import { byteAt, readUint16, writeUint16 } from '../../dns/bytes/bytes.ts'
import { HEADER_BYTES } from '../../dns/names/limits.ts'
import { RCODE } from '../../dns/names/rcode.ts'
import {
  GRPC_STATUS,
  GRPC_TYPE,
  readGrpcMessage,
  writeGrpcMessage,
} from '../../dns/wire/grpc-message.ts'
import { FLAG } from '../../dns/wire/query.ts'
import { type DohRequest, skipName } from '../../gateway/doh/doh-client.ts'

/** Characters of a server's reason that are repeated. */
const REASON_MAX = 200

/** What a query needs of the runtime. */
type GrpcClient = {
  /** Sends a request over HTTP/2. The response has the status of gRPC among its fields. */
  readonly fetch: (url: string, request: DohRequest) => Promise<Response>
  /** Aborts the query when it takes too long. */
  readonly signal: AbortSignal
}

/**
 * Sends a query and resolves with the response. A call that ends with NOT_FOUND counts as NXDOMAIN,
 * as in CoreDNS.
 * @throws {Error} for any other failure
 */
export async function askGrpc(
  url: string,
  message: Uint8Array,
  { fetch, signal }: GrpcClient,
): Promise<Uint8Array> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': GRPC_TYPE, te: 'trailers' },
    body: writeGrpcMessage(message),
    redirect: 'manual',
    signal,
  })
  if (response.status !== 200) throw new Error(`HTTP status ${response.status}`)
  const type = response.headers.get('content-type') ?? ''
  if (!type.startsWith(GRPC_TYPE)) throw new Error(`content type "${type}", expected ${GRPC_TYPE}`)
  const status = response.headers.get('grpc-status')
  if (status === String(GRPC_STATUS.NOT_FOUND)) return nxdomain(message)
  if (status !== String(GRPC_STATUS.OK)) {
    const reason = response.headers.get('grpc-message') ?? ''
    throw new Error(`gRPC status ${status ?? 'missing'}${reason && `: ${decoded(reason)}`}`)
  }
  const reply = readGrpcMessage(new Uint8Array(await response.arrayBuffer()))
  if (!(reply instanceof Uint8Array)) throw new Error(reply.reason)
  if (reply.length < HEADER_BYTES) throw new Error(`${reply.length} bytes are no message`)
  if (readUint16(reply, 0) !== readUint16(message, 0)) throw new Error('a response of another ID')
  return reply
}

/** Decodes a percent-encoded reason as far as it is ASCII. */
function decoded(reason: string): string {
  return reason
    .slice(0, REASON_MAX)
    .replace(/%([2-7][0-9A-F])/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** Returns the response NXDOMAIN to a query: its header and question alone. */
function nxdomain(query: Uint8Array): Uint8Array {
  const reply = query.slice(0, skipName(query, HEADER_BYTES) + 4)
  reply[2] = byteAt(query, 2) | (FLAG.QR >>> 8)
  reply[3] = RCODE.NXDOMAIN
  writeUint16(reply, 6, 0)
  writeUint16(reply, 8, 0)
  writeUint16(reply, 10, 0)
  return reply
}
