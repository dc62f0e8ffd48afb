/**
 * Messages of CoreDNS's DNS over gRPC (github.com/coredns/coredns, pb/dns.proto):
 * `DnsPacket { bytes msg = 1 }`, after the prefix that gRPC puts before each message
 * (github.com/grpc/grpc, doc/PROTOCOL-HTTP2.md).
 *
 *     compressed (1) | size (4) | 0x0a | size of msg as a varint | msg
 * @module
 */
import { byteAt, concatBytes, readUint32, uint32Bytes } from '../bytes/bytes.ts'
import { MESSAGE_BYTES_MAX } from '../names/limits.ts'

/** The path of the only method. */
export const GRPC_PATH = '/coredns.dns.DnsService/Query'
/** The media type of requests and responses; `+proto` may follow. */
export const GRPC_TYPE = 'application/grpc'

/** Codes of a call's end (github.com/grpc/grpc, doc/statuscodes.md). */
export const GRPC_STATUS = {
  OK: 0,
  INVALID_ARGUMENT: 3,
  NOT_FOUND: 5,
  RESOURCE_EXHAUSTED: 8,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
} as const

/** A call's end without a message. */
export type GrpcRefusal = { readonly status: number; readonly reason: string }

const PREFIX_BYTES = 5
/** Field 1, as bytes; in a message of one field, up to three bytes of size follow. */
const MSG_TAG = 0x0a
/** The longest message that holds a DNS message, and its prefix. */
export const GRPC_BYTES_MAX: number = PREFIX_BYTES + 4 + MESSAGE_BYTES_MAX

/** The refusal of a longer message. */
export const GRPC_TOO_LONG: GrpcRefusal = {
  status: GRPC_STATUS.RESOURCE_EXHAUSTED,
  reason: `a message has at most ${GRPC_BYTES_MAX - PREFIX_BYTES} bytes`,
}

/** Writes a DNS message as a message of gRPC. */
export function writeGrpcMessage(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const size = [MSG_TAG]
  let rest = message.length
  for (; rest > 0x7f; rest >>>= 7) size.push((rest & 0x7f) | 0x80)
  size.push(rest)
  const packetBytes = size.length + message.length
  return concatBytes(new Uint8Array(1), uint32Bytes(packetBytes), Uint8Array.from(size), message)
}

/**
 * Reads the DNS message of a body with one message of gRPC. The result is a part of the body; empty
 * if the message has none. Never throws.
 */
export function readGrpcMessage(body: Uint8Array): Uint8Array | GrpcRefusal {
  if (body.length < PREFIX_BYTES) return internal('the body has no message')
  const size = readUint32(body, 1)
  if (size > GRPC_BYTES_MAX - PREFIX_BYTES) return GRPC_TOO_LONG
  if (byteAt(body, 0) !== 0) {
    return { status: GRPC_STATUS.UNIMPLEMENTED, reason: 'messages must not be compressed' }
  }
  if (body.length < PREFIX_BYTES + size) return internal('the message is cut')
  if (body.length > PREFIX_BYTES + size) return internal('the call takes one message')
  return readPacket(body.subarray(PREFIX_BYTES)) ?? internal('the message is no DnsPacket')
}

function internal(reason: string): GrpcRefusal {
  return { status: GRPC_STATUS.INTERNAL, reason }
}

/** Reads `msg`, the last one if there are several; `undefined` for bytes that are no packet. */
function readPacket(bytes: Uint8Array): Uint8Array | undefined {
  let message = bytes.subarray(0, 0)
  let at = 0
  while (at < bytes.length) {
    const tag = readVarint(bytes, at)
    if (tag === undefined || tag.value < 8) return undefined
    const field = readField(bytes, tag.end, tag.value & 7)
    if (field === undefined || field.end > bytes.length) return undefined
    if (tag.value === MSG_TAG) message = bytes.subarray(field.start, field.end)
    at = field.end
  }
  return message
}

/** Returns where a field's value is; `undefined` for a group or an unknown wire type. */
function readField(
  bytes: Uint8Array,
  at: number,
  wireType: number,
): { readonly start: number; readonly end: number } | undefined {
  switch (wireType) {
    case 0: {
      const number = readVarint(bytes, at)
      return number && { start: at, end: number.end }
    }
    case 1:
      return { start: at, end: at + 8 }
    case 2: {
      const size = readVarint(bytes, at)
      return size && { start: size.end, end: size.end + size.value }
    }
    case 5:
      return { start: at, end: at + 4 }
    default:
      return undefined
  }
}

/** Reads a number of at most ten bytes; exact up to 2^53. */
function readVarint(
  bytes: Uint8Array,
  start: number,
): { readonly value: number; readonly end: number } | undefined {
  let value = 0
  for (let i = 0; i < 10 && start + i < bytes.length; i++) {
    const byte = byteAt(bytes, start + i)
    value += (byte & 0x7f) * 2 ** (7 * i)
    if (byte < 0x80) return { value, end: start + i + 1 }
  }
  return undefined
}
