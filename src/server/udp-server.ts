/**
 * A DNS server over UDP. Each address has its own socket, so that a response leaves from the
 * address that the query was sent to (RFC 2181 §4.1).
 * @module
 */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { recordOf } from '../bytes/unknown.ts'
import type { Client } from '../chain/client.ts'
import type { AnswerResult } from '../chain/incoming.ts'
import { ReplyWriter } from '../dns/reply-writer.ts'
import { takeInherited } from '../node/inherited-sockets.ts'
import { allowReuse } from './catch-all.ts'
import { BATCH_MAX, DatagramBatch, RECEIVE_BYTES } from './datagram-batch.ts'
import { leaveGroup } from './leave-group.ts'
import { type Mmsg, openMmsg } from './mmsg.ts'

/**
 * Answers a message. Returns the size of a response in the writer, or a response in memory of its
 * own. May keep the client only in the second case.
 */
export type Answer = (message: Uint8Array, client: Client, writer: ReplyWriter) => AnswerResult

/** Bytes that the kernel may buffer while the process is busy. */
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024

/**
 * Messages to read without a batch after an empty one: a server that keeps up with its queries
 * would pay 0.5 µs per query to learn that no more are pending.
 */
const SKIPS = 8

/**
 * Size of a batch from which the next one follows at once: by then as many more have arrived, and
 * waking up takes 6 to 10 µs, because Node zeroes 64 KiB for each attempt to receive. That was 5 %
 * of the CPU time of a query under load.
 */
const NEXT_BATCH_MIN = 8
/** Batches in a row, before other sockets and timers have their turn. */
const BATCHES_IN_A_ROW = 4
/**
 * Time of a full batch, in milliseconds, that makes it the last one of its turn of the event loop.
 * Node hands over 32 datagrams in a turn, each of which could be followed by a batch, and accepts
 * one TCP connection: with queries for a silent upstream, of 0.2 ms each, a turn could take 0.4 s,
 * and clients that connected by TCP waited for up to 5.8 s.
 */
const SLOW_BATCH_MS = 5

/** The sender of a datagram; reused for the next one unless a plugin kept it. */
type UdpClient = Client & { address: string; port: number }

/** Options of a UDP socket. */
export type UdpOptions = {
  readonly knownAs?: string
  readonly sharesPort?: boolean
  /** Whether a {@link CatchAll} has the port at all other addresses. */
  readonly isBesideCatchAll?: boolean
  readonly mmsg?: Mmsg | undefined
}

/** A UDP socket that answers queries. */
export class UdpServer {
  private readonly socket: Socket
  private readonly mmsg: Mmsg | undefined
  private readonly answer: () => Answer
  private readonly localAddress: string
  private localPort = 0
  /** Reused for the next query unless a plugin kept it. */
  private client: UdpClient | undefined
  private readonly writer = new ReplyWriter()
  /** Used while the socket still sends from `writer`; its responses are copied. */
  private readonly spare = new ReplyWriter()
  private isSending = false
  private readonly isBesideCatchAll: boolean
  private batch: DatagramBatch | undefined
  private isClosed = false
  /** Datagrams to leave to Node before the next batch is tried. */
  private skips = 0
  private wasFull = false
  private isTurnOver = false
  private readonly endTurn = (): void => {
    this.isTurnOver = false
  }
  private readonly unsent = (index: number, response: Uint8Array): void => {
    const { batch } = this
    if (batch !== undefined) this.send(response, batch.address(index), batch.port(index))
  }
  private readonly sent = (): void => {
    this.isSending = false
  }

  /**
   * @param answer returns the function that answers; called for each message
   * @param knownAs the local address that each query's client has, such as `::` for all addresses
   * @param sharesPort whether others listen on the same address and port; the kernel chooses
   * @param isBesideCatchAll whether the kernel must bind it beside a socket for all addresses
   * @param mmsg sends and receives datagrams in batches; without it, one at a time
   */
  constructor(
    address: string,
    answer: () => Answer,
    {
      knownAs = address,
      sharesPort = false,
      isBesideCatchAll = false,
      mmsg = openMmsg(),
    }: UdpOptions = {},
  ) {
    this.isBesideCatchAll = isBesideCatchAll
    this.mmsg = mmsg
    this.answer = answer
    this.localAddress = knownAs
    const reuseAddr = isBesideCatchAll
    const options = { reusePort: sharesPort, reuseAddr, lookup: lookUpLiteral }
    this.socket = address.includes(':')
      ? createSocket({ type: 'udp6', ipv6Only: true, ...options })
      : createSocket({ type: 'udp4', ...options })
    this.socket.on('message', (message, remote) => {
      // A batch cuts long messages: the way that a message takes must not change its response.
      const isLong = message.length > RECEIVE_BYTES
      this.receive(isLong ? message.subarray(0, RECEIVE_BYTES) : message, remote)
      this.receiveBatches()
    })
  }

  /** Starts to listen. @returns the port @throws {Error} when the address is in use */
  listen(address: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        this.socket.close()
        reject(error)
      }
      this.socket.once('error', fail)
      const fd = takeInherited('udp', address, port)
      this.socket.bind(fd === undefined ? { address, port } : { fd }, () => {
        this.socket.off('error', fail)
        // ICMP errors of clients that have gone away do not affect other clients.
        this.socket.on('error', () => undefined)
        this.enlargeBuffer()
        this.closePort()
        this.localPort = this.socket.address().port
        this.openBatch()
        resolve(this.localPort)
      })
    })
  }

  /** Leaves new queries to another process at the same port; answers those that are queued. */
  handOver(): void {
    const fd = descriptorOf(this.socket)
    if (fd === undefined) return
    const { address, port } = this.socket.address()
    leaveGroup(fd, address, port)
  }

  /** Closes the socket; queries in flight get no response. */
  close(): Promise<void> {
    this.isClosed = true
    return new Promise((resolve) => {
      this.socket.close(() => {
        resolve()
      })
    })
  }

  private receive(message: Uint8Array, { address, port }: RemoteInfo): void {
    if (port === 0) return
    const { isSending } = this
    const writer = isSending ? this.spare : this.writer
    const result = this.answer()(message, this.clientAt(address, port), writer)
    if (typeof result !== 'number') this.sendKept(result, address, port)
    else if (isSending) this.send(writer.bytes.slice(0, result), address, port)
    else this.sendWritten(result, address, port)
  }

  /**
   * Answers the datagrams that have arrived meanwhile, with two system calls a batch. A full batch
   * is the last one in a row: a server that does not keep up must leave time for other clients.
   */
  private receiveBatches(): void {
    const { batch } = this
    if (batch === undefined || this.isTurnOver || this.skips-- > 0) return
    for (let row = 0; row < BATCHES_IN_A_ROW && !this.isClosed; row++) {
      const startMs = this.wasFull ? performance.now() : 0
      const count = batch.receive()
      this.skips = row === 0 && count === 0 ? SKIPS : 0
      for (let i = 0; i < count; i++) this.answerInBatch(batch, i)
      if (count > 0) batch.flush(this.unsent)
      if (this.wasFull && performance.now() - startMs > SLOW_BATCH_MS) this.leaveTurn()
      this.wasFull = count === BATCH_MAX
      if (count < NEXT_BATCH_MIN || this.wasFull) return
    }
  }

  /** Leaves further batches to the next turn of the event loop. */
  private leaveTurn(): void {
    this.isTurnOver = true
    setImmediate(this.endTurn)
  }

  private answerInBatch(batch: DatagramBatch, index: number): void {
    const port = batch.port(index)
    if (port === 0) return
    const address = batch.address(index)
    const { spare } = this
    const result = this.answer()(batch.message(index), this.clientAt(address, port), spare)
    if (typeof result !== 'number') {
      batch.keep(index)
      this.sendKept(result, address, port)
    } else if (!batch.respond(index, spare.bytes, result)) {
      this.send(spare.bytes.slice(0, result), address, port)
    }
  }

  /** Returns the client of a query: the previous object unless a plugin kept it. */
  private clientAt(address: string, port: number): UdpClient {
    const { localAddress, localPort } = this
    this.client ??= { address, port, transport: 'udp', localAddress, localPort }
    this.client.address = address
    this.client.port = port
    return this.client
  }

  /** Sends a response in memory of its own, now or later. A plugin may have kept the client. */
  private sendKept(result: Exclude<AnswerResult, number>, address: string, port: number): void {
    this.client = undefined
    if (result instanceof Promise) {
      void result.then((later) => {
        this.send(later, address, port)
      })
    } else this.send(result, address, port)
  }

  private openBatch(): void {
    const { mmsg } = this
    const fd = descriptorOf(this.socket)
    if (mmsg !== undefined && fd !== undefined) this.batch = new DatagramBatch(mmsg, fd)
  }

  /** Sends the response in `writer`, which belongs to the socket until it calls `sent`. */
  private sendWritten(size: number, address: string, port: number): void {
    this.isSending = true
    try {
      this.socket.send(this.writer.bytes, 0, size, port, address, this.sent)
    } catch {
      // The socket is closed.
    }
  }

  private send(response: Uint8Array | undefined, address: string, port: number): void {
    if (response === undefined) return
    try {
      this.socket.send(response, port, address, () => undefined)
    } catch {
      // The socket was closed before the response was ready.
    }
  }

  /** Has the kernel refuse this address and port to other processes again. */
  private closePort(): void {
    const fd = this.isBesideCatchAll ? descriptorOf(this.socket) : undefined
    if (fd !== undefined) allowReuse(fd, false)
  }

  private enlargeBuffer(): void {
    try {
      this.socket.setRecvBufferSize(RECEIVE_BUFFER_BYTES)
    } catch {
      // Some systems refuse a larger buffer; a burst then loses queries sooner.
    }
  }
}

/**
 * Resolves an address to itself. Sockets here have literal addresses only; Node's own lookup would
 * wait for the next tick, which costs 0.5 µs per response.
 */
function lookUpLiteral(
  address: string,
  _options: unknown,
  callback: (error: null, address: string, family: number) => void,
): void {
  callback(null, address, address.includes(':') ? 6 : 4)
}

/** Returns the descriptor of a bound socket, for which Node has no public API. */
function descriptorOf(socket: object): number | undefined {
  const state = Object.getOwnPropertySymbols(socket).find(
    ({ description }) => description === 'state symbol',
  )
  const { handle } = recordOf(state === undefined ? undefined : Reflect.get(socket, state))
  const { fd } = recordOf(handle)
  return typeof fd === 'number' && fd >= 0 ? fd : undefined
}
