/**
 * PROXY headers, as load balancers write them.
 * @module
 */

/** First bytes of version 2. */
export const SIGNATURE: Buffer = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')

/** Connections of the client 192.0.2.7 or 2001:db8::7, port 4711, by address family. */
export const ENDS: Readonly<Record<'IPv4' | 'IPv6' | 'UNIX', Buffer>> = {
  IPv4: Buffer.from('c0000207c633640112670035', 'hex'),
  IPv6: Buffer.from(`20010db8${'00'.repeat(11)}0720010db8${'00'.repeat(11)}0112670035`, 'hex'),
  UNIX: Buffer.alloc(216),
}

/** The command of a load balancer that passes on a connection. */
const PROXY = 0x21
/** The command of a load balancer that speaks for itself. */
export const LOCAL = 0x20
/** Kinds: the family and the protocol. */
export const KIND = {
  UNSPEC: 0,
  TCP4: 0x11,
  UDP4: 0x12,
  TCP6: 0x21,
  UDP6: 0x22,
  STREAM: 0x31,
  DATAGRAM: 0x32,
} as const

/** Writes a header of version 2; `length` may lie. */
export function v2({
  command = PROXY,
  kind = KIND.TCP4,
  body = ENDS.IPv4,
  length = body.length,
}: {
  readonly command?: number
  readonly kind?: number
  readonly body?: Uint8Array
  readonly length?: number
} = {}): Buffer {
  return Buffer.concat([SIGNATURE, Buffer.of(command, kind, length >> 8, length & 0xff), body])
}

/** Writes a header of version 1. */
export function v1(rest = 'TCP4 192.0.2.7 198.51.100.1 4711 53'): Buffer {
  return Buffer.from(`PROXY ${rest}\r\n`)
}

/** The ends of IPv4 and TLVs of so many bytes, of a type that nobody knows. */
export function withTlvs(bytes: number): Buffer {
  return Buffer.concat([ENDS.IPv4, Buffer.alloc(bytes, 0xee)])
}
