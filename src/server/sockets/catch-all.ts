/**
 * Answers over UDP at the addresses that no socket of its own has: other loopback addresses than
 * 127.0.0.1, and prefixes that a route makes local (`ip route add local 192.0.2.0/24 dev lo`). The
 * kernel gives a socket for all addresses only what no other socket takes.
 *
 * Node cannot learn the address that a datagram was sent to, which the response must come from
 * (RFC 2181 §4.1), nor wait for a socket without receiving from it. So this socket belongs to the C
 * library alone, and is looked at ten times a second, while there are queries each millisecond.
 * That takes 0.2 % of an idle processor.
 * @module
 */

import { readUint16 } from '../../dns/bytes/bytes.ts'
import { formatAddress } from '../../dns/names/address.ts'
import { ReplyWriter } from '../../dns/wire/reply-writer.ts'
import type { Client } from '../../resolver/contract/client.ts'
import { loadCFunctions } from '../node/c-functions.ts'
import type { UdpAnswers } from './answer.ts'

const IDLE_MS = 100
const BUSY_MS = 1
/** Time without a query after which the socket is idle again. */
const BUSY_FOR_MS = 1000
/** Time for datagrams of a socket in a turn of the event loop; the last one may exceed it. */
const SLICE_MS = 2
/** Bytes received of a datagram, as by other sockets: longer queries are refused as malformed. */
const RECEIVE_BYTES = 4096

// Linux, asm-generic: bits/socket.h, linux/in.h and linux/in6.h.
const SOCK_DGRAM_CLOEXEC_NONBLOCK = 2 | 0o2000000 | 0o4000
const SOL_SOCKET = 1
const SO_REUSEADDR = 2
const SO_REUSEPORT = 15

/** What differs between the families: constants, and sizes and offsets of structures. */
type Family = {
  readonly number: number
  readonly level: number
  /**
   * Options to set to 1: to receive the destination; for IPv6 also to leave IPv4 out, and to send
   * from an address that a route makes local (IPV6_FREEBIND).
   */
  readonly options: readonly number[]
  /**
   * The control message with the destination: its type, its bytes as CMSG_SPACE has them, and the
   * offset of the interface in it.
   */
  readonly control: { readonly type: number; readonly bytes: number; readonly interface: number }
  /** The client's socket address, and the offset of the address in it. */
  readonly socketAddress: { readonly bytes: number; readonly at: number; readonly size: number }
}

const FAMILIES: readonly Family[] = [
  {
    number: 2,
    level: 0,
    options: [8],
    control: { type: 8, bytes: 32, interface: 16 },
    socketAddress: { bytes: 16, at: 4, size: 4 },
  },
  {
    number: 10,
    level: 41,
    options: [26, 49, 78],
    control: { type: 50, bytes: 40, interface: 32 },
    socketAddress: { bytes: 28, at: 8, size: 16 },
  },
]

// One block of memory: struct msghdr, struct iovec, a socket address, control messages, an option.
const VECTOR = 64
const NAME = 96
const CONTROL = 128
const OPTION = 192
const BLOCK_BYTES = 256
const CONTROL_BYTES = 64
/** Offsets in struct msghdr. */
const HEADER = { NAME: 0, NAME_BYTES: 8, VECTOR: 16, VECTORS: 24, CONTROL: 32, CONTROL_BYTES: 40 }
/** Bytes of struct cmsghdr, which begins each control message, and the offset of its type. */
const CONTROL_HEADER = 16
const CONTROL_TYPE = 12

const FUNCTIONS = {
  socket: { return: 'i32', arguments: ['i32', 'i32', 'i32'] },
  setsockopt: { return: 'i32', arguments: ['i32', 'i32', 'i32', 'pointer', 'u32'] },
  bind: { return: 'i32', arguments: ['i32', 'pointer', 'u32'] },
  recvmsg: { return: 'i32', arguments: ['i32', 'pointer', 'i32'] },
  sendmsg: { return: 'i32', arguments: ['i32', 'pointer', 'i32'] },
  close: { return: 'i32', arguments: ['i32'] },
} as const

type Library = NonNullable<ReturnType<typeof load>>

/** A datagram that was received. */
type Received = {
  readonly message: Uint8Array
  /** The client's socket address. */
  readonly from: Uint8Array
  /** The control message that sends the response from where the query was sent to. */
  readonly to: Uint8Array
}

function load() {
  return loadCFunctions(FUNCTIONS)
}

/** Answers at all addresses that have no socket of their own, of IPv4 and IPv6. */
export class CatchAll {
  private readonly sockets: readonly BareSocket[]
  private readonly answers: UdpAnswers
  private readonly port: number
  private readonly writer = new ReplyWriter()
  private timer: NodeJS.Timeout | undefined
  private busyUntilMs = 0

  /**
   * Opens the sockets; `undefined` where there is no foreign function interface, or where another
   * process has the port. Other sockets at the port need `allowReuse` before they are bound, unless
   * all of them share it.
   */
  static open(port: number, sharesPort: boolean, answers: UdpAnswers): CatchAll | undefined {
    const library = load()
    if (library === undefined) return undefined
    const option = sharesPort ? SO_REUSEPORT : SO_REUSEADDR
    const sockets = FAMILIES.flatMap((family) => {
      return BareSocket.open(library, { family, port, option }) ?? []
    })
    return sockets.length === 0 ? undefined : new CatchAll(sockets, port, answers)
  }

  private constructor(sockets: readonly BareSocket[], port: number, answers: UdpAnswers) {
    this.sockets = sockets
    this.port = port
    this.answers = answers
    this.wait()
  }

  /** Closes the sockets; queries in flight get no response. */
  close(): void {
    clearTimeout(this.timer)
    for (const socket of this.sockets) socket.close()
  }

  private wait(): void {
    const isBusy = performance.now() < this.busyUntilMs
    this.timer = setTimeout(
      () => {
        this.wait()
        for (const socket of this.sockets) this.receive(socket)
      },
      isBusy ? BUSY_MS : IDLE_MS,
    )
    this.timer.unref()
  }

  private receive(socket: BareSocket): void {
    const endMs = performance.now() + SLICE_MS
    while (performance.now() < endMs) {
      const received = socket.receive()
      if (received === undefined) return
      this.busyUntilMs = performance.now() + BUSY_FOR_MS
      if (received !== 'dropped') this.respond(socket, received)
    }
  }

  private respond(socket: BareSocket, received: Received): void {
    const client: Client = {
      ...socket.senderOf(received),
      transport: 'udp',
      localAddress: '::',
      localPort: this.port,
    }
    const { answers, writer } = this
    const size = answers.fast(received.message, client, writer)
    if (size < 0) return
    if (size > 0) {
      socket.send(writer.bytes.subarray(0, size), received)
      return
    }
    const result = answers.slow(received.message, client)
    if (result instanceof Promise) void result.then((later) => socket.send(later, received))
    else socket.send(result, received)
  }
}

/** Lets the kernel bind a socket beside that of a {@link CatchAll}, or no longer. */
export function allowReuse(fd: number, isAllowed: boolean): void {
  const library = load()
  if (library === undefined) return
  const block = new Uint8Array(BLOCK_BYTES)
  block[OPTION] = isAllowed ? 1 : 0
  const pointer = library.addressOf(block) + BigInt(OPTION)
  library.functions.setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, pointer, 4)
}

/** A UDP socket that Node does not know. */
class BareSocket {
  private readonly library: Library
  private readonly family: Family
  private readonly fd: number
  private readonly block = new Uint8Array(BLOCK_BYTES)
  private readonly view = new DataView(this.block.buffer)
  private readonly buffer = new Uint8Array(RECEIVE_BYTES)
  private readonly base: bigint
  private isClosed = false

  /** Returns `undefined` if the machine lacks the family, or the port is in use. */
  static open(
    library: Library,
    bound: { readonly family: Family; readonly port: number; readonly option: number },
  ): BareSocket | undefined {
    const { family, port, option } = bound
    const fd = library.functions.socket(family.number, SOCK_DGRAM_CLOEXEC_NONBLOCK, 0)
    if (fd < 0) return undefined
    const socket = new BareSocket(library, family, fd)
    if (socket.bind(port, option)) return socket
    socket.close()
    return undefined
  }

  private constructor(library: Library, family: Family, fd: number) {
    this.library = library
    this.family = family
    this.fd = fd
    this.base = library.addressOf(this.block)
  }

  /** Receives a datagram; `undefined` if there is none. Drops broadcasts and multicasts. */
  receive(): Received | 'dropped' | undefined {
    const { block, family } = this
    const { socketAddress, control } = family
    this.view.setInt32(CONTROL + CONTROL_TYPE, 0, true)
    this.prepare(this.buffer, RECEIVE_BYTES, CONTROL_BYTES)
    const size = this.isClosed ? -1 : this.library.functions.recvmsg(this.fd, this.base, 0)
    if (size < 0) return undefined
    const from = block.slice(NAME, NAME + socketAddress.bytes)
    const to = block.slice(CONTROL, CONTROL + CONTROL_BYTES)
    const isKnown = this.view.getInt32(CONTROL + CONTROL_TYPE, true) === control.type
    if (!isKnown || !isUnicast(to, family) || readUint16(from, 2) === 0) return 'dropped'
    return { message: this.buffer.slice(0, size), from, to }
  }

  /** Returns the sender of a datagram. */
  senderOf({ from }: Received): { readonly address: string; readonly port: number } {
    const { at, size } = this.family.socketAddress
    return { address: formatAddress(from.slice(at, at + size)), port: readUint16(from, 2) }
  }

  /** Sends a response from the address that its query was sent to; a full queue drops it. */
  send(response: Uint8Array | undefined, { from, to }: Received): void {
    if (response === undefined || this.isClosed) return
    const { block, family } = this
    block.set(from, NAME)
    block.set(to, CONTROL)
    // Only addresses that every interface has need it.
    if (!isLinkLocal(to)) this.view.setInt32(CONTROL + family.control.interface, 0, true)
    const isShort = response.length <= this.buffer.length
    if (isShort) this.buffer.set(response)
    this.prepare(isShort ? this.buffer : response, response.length, family.control.bytes)
    this.library.functions.sendmsg(this.fd, this.base, 0)
  }

  close(): void {
    if (!this.isClosed) this.library.functions.close(this.fd)
    this.isClosed = true
  }

  private bind(port: number, option: number): boolean {
    const { block, view, family } = this
    const isSet = [
      [SOL_SOCKET, option] as const,
      ...family.options.map((one) => [family.level, one] as const),
    ].every(([level, name]) => this.setOption(level, name))
    block.fill(0, NAME, NAME + family.socketAddress.bytes)
    view.setUint16(NAME, family.number, true)
    view.setUint16(NAME + 2, port)
    const name = this.base + BigInt(NAME)
    const { functions } = this.library
    return isSet && functions.bind(this.fd, name, family.socketAddress.bytes) === 0
  }

  private setOption(level: number, name: number): boolean {
    this.view.setInt32(OPTION, 1, true)
    const value = this.base + BigInt(OPTION)
    return this.library.functions.setsockopt(this.fd, level, name, value, 4) === 0
  }

  /** Fills struct msghdr for a call. */
  private prepare(bytes: Uint8Array, size: number, controlBytes: number): void {
    const { view, base } = this
    view.setBigUint64(HEADER.NAME, base + BigInt(NAME), true)
    view.setUint32(HEADER.NAME_BYTES, this.family.socketAddress.bytes, true)
    view.setBigUint64(HEADER.VECTOR, base + BigInt(VECTOR), true)
    view.setBigUint64(HEADER.VECTORS, 1n, true)
    view.setBigUint64(HEADER.CONTROL, base + BigInt(CONTROL), true)
    view.setBigUint64(HEADER.CONTROL_BYTES, BigInt(controlBytes), true)
    view.setBigUint64(VECTOR, this.library.addressOf(bytes), true)
    view.setBigUint64(VECTOR + 8, BigInt(size), true)
  }
}

/** Whether the destination is an IPv6 address that each interface can have (fe80::/10). */
function isLinkLocal(control: Uint8Array): boolean {
  const second = (control[CONTROL_HEADER + 1] ?? 0) & 0xc0
  return control[CONTROL_TYPE] === 50 && control[CONTROL_HEADER] === 0xfe && second === 0x80
}

/** Whether a datagram was sent to an address of this machine, by its control message. */
function isUnicast(control: Uint8Array, { number }: Family): boolean {
  const at = CONTROL_HEADER
  // struct in6_pktinfo: address, interface. Multicast addresses begin with ff (RFC 4291 §2.7).
  if (number !== 2) return control[at] !== 0xff
  // struct in_pktinfo: interface, local address, destination: they differ for a broadcast.
  return [0, 1, 2, 3].every((i) => control[at + 4 + i] === control[at + 8 + i])
}
