/**
 * The PROXY header, with which a load balancer names the client before the first byte of a
 * connection, or in each datagram (haproxy.org, proxy-protocol.txt, versions 1 and 2):
 *
 * ```
 * PROXY TCP4 192.0.2.7 198.51.100.1 4711 53\r\n
 *
 * 0            12      13     14      16
 * ┌────────────┬───────┬──────┬───────┬─────────────────────┬──────┐
 * │ signature  │ 2, or │ kind │ bytes │ source, destination │ TLVs │
 * │            │ 20 21 │      │ after │ and their ports     │      │
 * └────────────┴───────┴──────┴───────┴─────────────────────┴──────┘
 * ```
 *
 * What is malformed is as for CoreDNS (github.com/pires/go-proxyproto 0.15). TLVs are skipped.
 * @module
 */
import { byteAt, readUint16 } from '../bytes/bytes.ts'
import { formatAddress, parseIPv4, parseIPv6, unmapped } from '../names/address.ts'

/** Longest header of version 1, with its CR and LF (section 2.1). */
const LINE_BYTES_MAX = 107
/** Most bytes after the fixed part of version 2: TLVs may hold a client's certificate. */
const BODY_BYTES_MAX = 4096
const FIXED_BYTES = 16
const LINE_START = Uint8Array.from('PROXY', (one) => one.charCodeAt(0))
const SIGNATURE = Uint8Array.of(13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10)
const COMMAND = { LOCAL: 0x20, PROXY: 0x21 } as const
const LF = 10
const CR = 13
const PORT = /^(?:0|[1-9]\d{0,4})$/

/** Bytes of addresses and ports by the family, the upper half of the kind (section 2.2). */
const FAMILY_BYTES: readonly number[] = [0, 12, 36, 216]
const UNSPECIFIED = 0
const UNIX = 3
/** The lower half of the kind. */
const STREAM = 1
const DATAGRAM = 2

/** Both ends of the connection between client and load balancer. */
export type ProxiedEnds = {
  readonly address: string
  readonly port: number
  readonly localAddress: string
  readonly localPort: number
}

/** A header. */
export type ProxyHeader = {
  /** Its size in bytes; the payload follows. */
  readonly size: number
  /** Whether it is for a datagram: of version 2, and of UDP or for the load balancer itself. */
  readonly fitsDatagram: boolean
  /**
   * `undefined` where those of the connection itself count: `LOCAL` and `UNKNOWN`, by which a load
   * balancer speaks for itself, and the sockets of one machine (AF_UNIX).
   */
  readonly ends: ProxiedEnds | undefined
}

/** What the first bytes are: `cut` if more may complete a header. */
export type ReadHeader = ProxyHeader | 'none' | 'cut' | 'malformed'

/** Reads the header that bytes begin with. Looks at 4,112 bytes at most. */
export function readProxyHeader(bytes: Uint8Array): ReadHeader {
  const [line, binary] = [startsWith(bytes, LINE_START), startsWith(bytes, SIGNATURE)]
  if (line === 'yes') return readLine(bytes)
  if (binary === 'yes') return readBinary(bytes)
  return line === 'perhaps' || binary === 'perhaps' ? 'cut' : 'none'
}

function startsWith(bytes: Uint8Array, start: Uint8Array): 'yes' | 'perhaps' | 'no' {
  const size = Math.min(bytes.length, start.length)
  for (let i = 0; i < size; i++) if (byteAt(bytes, i) !== byteAt(start, i)) return 'no'
  return size === start.length ? 'yes' : 'perhaps'
}

/** Reads version 1 (section 2.1). */
function readLine(bytes: Uint8Array): ReadHeader {
  const end = bytes.subarray(0, LINE_BYTES_MAX).indexOf(LF)
  if (end < 0) return bytes.length < LINE_BYTES_MAX ? 'cut' : 'malformed'
  if (byteAt(bytes, end - 1) !== CR) return 'malformed'
  const words = String.fromCharCode(...bytes.subarray(0, end - 1)).split(' ')
  const [first, protocol, address = '', localAddress = '', port = '', localPort = ''] = words
  const header = { size: end + 1, fitsDatagram: false }
  if (first !== 'PROXY') return 'malformed'
  if (protocol === 'UNKNOWN') return { ...header, ends: undefined }
  if (words.length !== 6 || (protocol !== 'TCP4' && protocol !== 'TCP6')) return 'malformed'
  const parse = protocol === 'TCP4' ? parseIPv4 : parseIPv6
  const [own, local] = [parse(address), parse(localAddress)]
  if (own === undefined || local === undefined || !isPort(port) || !isPort(localPort)) {
    return 'malformed'
  }
  return { ...header, ends: endsOf(own, Number(port), local, Number(localPort)) }
}

function isPort(text: string): boolean {
  return PORT.test(text) && Number(text) <= 0xffff
}

/** Reads version 2 (section 2.2). */
function readBinary(bytes: Uint8Array): ReadHeader {
  if (bytes.length < FIXED_BYTES) return 'cut'
  const command = byteAt(bytes, 12)
  const [family, protocol] = [byteAt(bytes, 13) >> 4, byteAt(bytes, 13) & 0x0f]
  const bodyBytes = readUint16(bytes, 14)
  const isLocal = command === COMMAND.LOCAL
  if (!isLocal && command !== COMMAND.PROXY) return 'malformed'
  const addressBytes = FAMILY_BYTES[family]
  const isKnown = protocol === STREAM || protocol === DATAGRAM
  const isUnspecified = family === UNSPECIFIED && protocol === 0
  if (addressBytes === undefined || (!isUnspecified && (family === UNSPECIFIED || !isKnown))) {
    return 'malformed'
  }
  if (bodyBytes > BODY_BYTES_MAX) return 'malformed'
  if (!isLocal && (isUnspecified || bodyBytes < addressBytes)) return 'malformed'
  const size = FIXED_BYTES + bodyBytes
  if (bytes.length < size) return 'cut'
  if (isLocal) return { size, fitsDatagram: true, ends: undefined }
  if (family === UNIX) return { size, fitsDatagram: false, ends: undefined }
  const half = (addressBytes - 4) / 2
  const ports = FIXED_BYTES + 2 * half
  const source = bytes.slice(FIXED_BYTES, FIXED_BYTES + half)
  const target = bytes.slice(FIXED_BYTES + half, ports)
  const ends = endsOf(source, readUint16(bytes, ports), target, readUint16(bytes, ports + 2))
  return { size, fitsDatagram: protocol === DATAGRAM, ends }
}

function endsOf(
  address: Uint8Array,
  port: number,
  localAddress: Uint8Array,
  localPort: number,
): ProxiedEnds {
  const format = (bytes: Uint8Array): string => formatAddress(unmapped(bytes))
  return { address: format(address), port, localAddress: format(localAddress), localPort }
}
