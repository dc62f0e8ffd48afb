/**
 * Messages of dnstap (https://github.com/dnstap/dnstap.pb, dnstap.proto) in protocol buffers: a
 * query or response, its two ends, and its time.
 * @module
 */
import { parseAddress } from '../../../dns/names/address.ts'
import { MESSAGE_BYTES_MAX } from '../../../dns/names/limits.ts'

/** Kinds of messages, by the numbers of `Message.Type`. */
export const TAP = {
  CLIENT_QUERY: 5,
  CLIENT_RESPONSE: 6,
  FORWARDER_QUERY: 7,
  FORWARDER_RESPONSE: 8,
} as const

/** One end of an exchange. */
export type TapPeer = { readonly address: string; readonly port: number }

/** A query or a response; absent fields are not sent. */
export type TapMessage = {
  readonly type: number
  readonly isUdp: boolean
  readonly from?: TapPeer
  /** The sender of the response. */
  readonly to?: TapPeer
  /** Milliseconds since 1970. */
  readonly queryMs: number
  readonly responseMs?: number
  readonly query?: Uint8Array
  readonly response?: Uint8Array
}

/** The sender of messages. */
export type TapSource = {
  /** At most 4 KiB, like the version. */
  readonly identity: Uint8Array
  readonly version: Uint8Array
  /** Empty for none; truncated after 4 KiB. */
  readonly extra: Uint8Array
}

/** Field numbers, and those of embedded messages. */
const DNSTAP = { IDENTITY: 1, VERSION: 2, EXTRA: 3, MESSAGE: 14, TYPE: 15 } as const
const MESSAGE = {
  TYPE: 1,
  FAMILY: 2,
  PROTOCOL: 3,
  QUERY_ADDRESS: 4,
  RESPONSE_ADDRESS: 5,
  QUERY_PORT: 6,
  RESPONSE_PORT: 7,
  QUERY_SECONDS: 8,
  QUERY_NANOSECONDS: 9,
  QUERY: 10,
  RESPONSE_SECONDS: 12,
  RESPONSE_NANOSECONDS: 13,
  RESPONSE: 14,
} as const
const TYPE_MESSAGE = 1
const FAMILY = { INET: 1, INET6: 2 } as const
const PROTOCOL = { UDP: 1, TCP: 2 } as const
const WIRE = { VARINT: 0, BYTES: 2, FIXED32: 5 } as const

/** Bytes of the extra field. */
const EXTRA_BYTES_MAX = 4096
/** Bytes of a writer's buffer: two DNS messages and their metadata. */
const SCRATCH_BYTES = 2 * MESSAGE_BYTES_MAX + 4 * EXTRA_BYTES_MAX

/** Writes fields of protocol buffers into a buffer that every message reuses. */
class FieldWriter {
  private readonly bytes = new Uint8Array(SCRATCH_BYTES)
  private size = 0

  begin(): void {
    this.size = 0
  }

  /** The written bytes, until the next `begin`. */
  get written(): Uint8Array {
    return this.bytes.subarray(0, this.size)
  }

  writeNumber(field: number, value: number): void {
    this.writeVarint((field << 3) | WIRE.VARINT)
    this.writeVarint(value)
  }

  writeBytes(field: number, value: Uint8Array): void {
    this.writeVarint((field << 3) | WIRE.BYTES)
    this.writeVarint(value.length)
    this.bytes.set(value, this.size)
    this.size += value.length
  }

  /** Writes a fixed-size number, little-endian as protocol buffers require. */
  writeFixed(field: number, value: number): void {
    this.writeVarint((field << 3) | WIRE.FIXED32)
    for (let shift = 0; shift < 32; shift += 8) this.bytes[this.size++] = value >>> shift
  }

  /** Writes seven bits a byte, the least first; all bytes but the last have the highest bit. */
  private writeVarint(value: number): void {
    let rest = value
    for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) {
      this.bytes[this.size++] = (rest % 0x80) | 0x80
    }
    this.bytes[this.size++] = rest
  }
}

const inner = new FieldWriter()
const outer = new FieldWriter()

/** Returns the payload of one frame, in memory of its own. */
export function writeTap({ identity, version, extra }: TapSource, message: TapMessage): Uint8Array {
  inner.begin()
  writeMessage(message)
  outer.begin()
  outer.writeBytes(DNSTAP.IDENTITY, identity)
  outer.writeBytes(DNSTAP.VERSION, version)
  if (extra.length > 0) outer.writeBytes(DNSTAP.EXTRA, extra.subarray(0, EXTRA_BYTES_MAX))
  outer.writeBytes(DNSTAP.MESSAGE, inner.written)
  outer.writeNumber(DNSTAP.TYPE, TYPE_MESSAGE)
  return outer.written.slice()
}

function writeMessage(message: TapMessage): void {
  const { type, isUdp, from, to, queryMs, responseMs, query, response } = message
  const [asker, answerer] = [addressOf(from), addressOf(to)]
  const isIPv6 = (asker ?? answerer)?.length === 16
  inner.writeNumber(MESSAGE.TYPE, type)
  inner.writeNumber(MESSAGE.FAMILY, isIPv6 ? FAMILY.INET6 : FAMILY.INET)
  inner.writeNumber(MESSAGE.PROTOCOL, isUdp ? PROTOCOL.UDP : PROTOCOL.TCP)
  if (asker !== undefined) inner.writeBytes(MESSAGE.QUERY_ADDRESS, asker)
  if (answerer !== undefined) inner.writeBytes(MESSAGE.RESPONSE_ADDRESS, answerer)
  if (from !== undefined) inner.writeNumber(MESSAGE.QUERY_PORT, from.port)
  if (to !== undefined) inner.writeNumber(MESSAGE.RESPONSE_PORT, to.port)
  writeTime(MESSAGE.QUERY_SECONDS, MESSAGE.QUERY_NANOSECONDS, queryMs)
  if (query !== undefined) inner.writeBytes(MESSAGE.QUERY, query)
  if (responseMs !== undefined) {
    writeTime(MESSAGE.RESPONSE_SECONDS, MESSAGE.RESPONSE_NANOSECONDS, responseMs)
  }
  if (response !== undefined) inner.writeBytes(MESSAGE.RESPONSE, response)
}

/** Returns an address; an IPv4-mapped one as IPv4. */
function addressOf(peer: TapPeer | undefined): Uint8Array | undefined {
  return peer && parseAddress(peer.address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, ''))
}

function writeTime(seconds: number, nanoseconds: number, timeMs: number): void {
  const whole = Math.floor(timeMs / 1000)
  inner.writeNumber(seconds, whole)
  inner.writeFixed(nanoseconds, Math.floor((timeMs - whole * 1000) * 1e6))
}
