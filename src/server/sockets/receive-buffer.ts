/**
 * Bounds the bytes that a connection brings to one iteration of the event loop. libuv reads a
 * socket up to 32 times in a row while each read fills its buffer of 16 KiB (64 KiB without TLS),
 * and TLS and nghttp2 process these bytes at once. A receive buffer smaller than a read ends this
 * after one read. Linux only.
 *
 * `npm run test:attack` needs it in the row "HTTP/2: headers", of a few connections with expensive
 * header blocks: p99 of other clients is 0.06 s with it, 0.7 to 1.3 s without. Connections that
 * upload get a larger buffer, because a small one lets only 8 to 16 KiB through in a round trip.
 * @module
 */
import { recordOf } from '../../dns/bytes/unknown.ts'
import { loadCFunctions } from '../node/c-functions.ts'

/**
 * Bytes of the receive buffer of a new connection. Linux doubles it and counts its own structures
 * too.
 */
const NARROW_BYTES = 8192
/**
 * The same for a connection that uploads: 64 KiB per round trip, because TCP's handshake has left
 * no scale for a larger window (RFC 7323 §2.3).
 */
const WIDE_BYTES = 131_072

/** <asm-generic/socket.h> and <linux/tcp.h>, on x64 and arm64. */
const SOL_SOCKET = 1
const SO_RCVBUF = 8
const IPPROTO_TCP = 6
const TCP_WINDOW_CLAMP = 10

type SetOption = (fd: number, level: number, name: number, value: number) => void

let setOption: SetOption | undefined

/**
 * Makes the receive buffers of a listener's future connections small, where Node can (Node 26,
 * 64-bit Linux). They inherit the size; setting it later would stall senders on the same machine,
 * because these wait for half of the largest window that they have seen.
 */
export function narrowReceiveBuffers(listener: object): void {
  set(listener, SOL_SOCKET, SO_RCVBUF, NARROW_BYTES)
}

/** Enlarges the receive buffer of a trusted connection. Does nothing once it is closed. */
export function widenReceiveBuffer(socket: object): void {
  set(socket, SOL_SOCKET, SO_RCVBUF, WIDE_BYTES)
  set(socket, IPPROTO_TCP, TCP_WINDOW_CLAMP, WIDE_BYTES)
}

function set(socket: object, level: number, name: number, value: number): void {
  setOption ??= load()
  // Node has no public API for the descriptor of a socket.
  const { fd } = recordOf(Reflect.get(socket, '_handle'))
  if (typeof fd === 'number' && fd >= 0) setOption(fd, level, name, value)
}

function load(): SetOption {
  const found = loadCFunctions({
    setsockopt: { return: 'i32', arguments: ['i32', 'i32', 'i32', 'pointer', 'u32'] },
  })
  if (found === undefined) return () => undefined
  const { functions, addressOf } = found
  const option = new Int32Array(1)
  const address = addressOf(option)
  return (fd, level, name, value) => {
    option[0] = value
    functions.setsockopt(fd, level, name, address, option.byteLength)
  }
}
