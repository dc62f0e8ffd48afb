/**
 * A DNS server over UDP. Each address has its own socket, so that a response leaves from the
 * address that the query was sent to (RFC 2181 §4.1).
 * @module
 */

import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { recordOf } from '../../dns/bytes/unknown.ts'
import { ReplyWriter } from '../../dns/wire/reply-writer.ts'
import type { Client } from '../../resolver/contract/client.ts'
import { takeInherited } from '../node/inherited-sockets.ts'
import type { UdpAnswers } from './answer.ts'
import { allowReuse } from './catch-all.ts'
import { BATCH_MAX, DatagramBatch, RECEIVE_BYTES } from './datagram-batch.ts'
import { leaveGroup } from './leave-group.ts'
import { type Mmsg, openMmsg } from './mmsg.ts'
import { type SlowAnswers, SlowQueries } from './slow-queries.ts'

/** Bytes that the kernel may buffer while the process is busy. */
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024

/**
 * Messages to read without a batch after an empty one: a server that keeps up with its queries
 * would pay 0.5 µs per query to learn that no more are pending.
 */
const SKIPS = 8

/**
 * After a batch of this size, reads the next one at once: as many datagrams already wait. Waking up
 * for them would take 6 to 10 µs, because Node zeroes 64 KiB for each attempt to receive.
 */
const NEXT_BATCH_MIN = 8
/** Batches in a row, before other sockets and timers have their turn. */
const BATCHES_IN_A_ROW = 4
/**
 * Milliseconds after the first full batch of a turn of the event loop, when batches end: 5 ms are
 * for queries on the slow path, the rest suffices for 100,000 datagrams a second. Without a bound,
 * each of the 32 datagrams that Node passes in a turn could start a batch, but Node accepts one TCP
 * connection in a turn: during a flood, clients would wait seconds for theirs.
 */
const BATCHES_MS = 10

/**
 * Bytes of responses that may wait in this process for the network. Drops further ones, as a full
 * queue of the kernel would: 40,000 queries/s from behind a slow link add 45 MiB a second.
 */
const UNSENT_BYTES_MAX = 256 * 1024

/** The sender of a datagram. */
type UdpClient = Client & { address: string; port: number; localPort: number }

/** Options of a UDP socket. */
export type UdpOptions = {
  readonly queue?: SlowQueries
  readonly knownAs?: string
  readonly sharesPort?: boolean
  /** Whether a {@link CatchAll} has the port at all other addresses. */
  readonly isBesideCatchAll?: boolean
  readonly mmsg?: Mmsg | undefined
  /** Called for each response that is dropped because the network does not take it. */
  readonly onUnsent?: () => void
}

/** A UDP socket that answers queries. */
export class UdpServer implements SlowAnswers {
  private readonly socket: Socket
  private readonly mmsg: Mmsg | undefined
  private readonly answers: UdpAnswers
  private readonly queue: SlowQueries
  private readonly onUnsent: () => void
  /** Reused for each query on the fast path. */
  private readonly client: UdpClient
  private readonly writer = new ReplyWriter()
  /** Used while the socket still sends from `writer`; its responses are copied. */
  private readonly spare = new ReplyWriter()
  private isSending = false
  private readonly isBesideCatchAll: boolean
  private batch: DatagramBatch | undefined
  private isClosed = false
  /** Datagrams to leave to Node before the next batch is tried. */
  private skips = 0
  /** When the first full batch of this turn came; 0 before it. */
  private turnStartMs = 0
  private isTurnOver = false
  private readonly endTurn = (): void => {
    this.turnStartMs = 0
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
   * @param queue holds the queries for the slow path; one for all sockets of a thread
   * @param knownAs the local address that each query's client has, such as `::` for all addresses
   * @param sharesPort whether others listen on the same address and port; the kernel chooses
   * @param isBesideCatchAll whether the kernel must bind it beside a socket for all addresses
   * @param mmsg sends and receives datagrams in batches; without it, one at a time
   * @param onUnsent called for each response that is dropped
   */
  constructor(
    address: string,
    answers: UdpAnswers,
    {
      queue = new SlowQueries({ value: 0 }),
      knownAs = address,
      sharesPort = false,
      isBesideCatchAll = false,
      mmsg = openMmsg(),
      onUnsent = () => undefined,
    }: UdpOptions = {},
  ) {
    this.isBesideCatchAll = isBesideCatchAll
    this.mmsg = mmsg
    this.onUnsent = onUnsent
    this.answers = answers
    this.queue = queue
    this.client = { address: '', port: 0, transport: 'udp', localAddress: knownAs, localPort: 0 }
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
        const { port: bound } = this.socket.address()
        this.client.localPort = bound
        this.openBatch()
        resolve(bound)
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

  /** Answers a message on the slow path, now or later. */
  answerSlowly(message: Uint8Array, address: string, port: number): void {
    const result = this.answers.slow(message, { ...this.client, address, port })
    if (result instanceof Promise) void result.then((later) => this.send(later, address, port))
    else this.send(result, address, port)
  }

  private receive(message: Uint8Array, { address, port }: RemoteInfo): void {
    if (port === 0) return
    const { isSending } = this
    const writer = isSending ? this.spare : this.writer
    const size = this.answers.fast(message, this.clientAt(address, port), writer)
    if (size < 0) return
    if (size === 0) this.queue.take(this, message, address, port)
    else if (isSending) this.send(writer.bytes.slice(0, size), address, port)
    else this.sendWritten(size, address, port)
  }

  /**
   * Answers the datagrams that have arrived meanwhile, with two system calls a batch. A full batch
   * is the last one in a row: a server that does not keep up must leave time for other clients.
   */
  private receiveBatches(): void {
    const { batch } = this
    if (batch === undefined || this.isTurnOver || this.skips-- > 0) return
    for (let row = 0; row < BATCHES_IN_A_ROW && !this.isClosed; row++) {
      const count = batch.receive()
      this.skips = row === 0 && count === 0 ? SKIPS : 0
      for (let i = 0; i < count; i++) this.answerInBatch(batch, i)
      if (count > 0) batch.flush(this.unsent)
      if (count === BATCH_MAX) this.noteFull()
      if (count < NEXT_BATCH_MIN || count === BATCH_MAX) return
    }
  }

  /** Leaves further batches to the next turn of the event loop if this one has taken long. */
  private noteFull(): void {
    const nowMs = performance.now()
    if (this.turnStartMs === 0) {
      this.turnStartMs = nowMs
      setImmediate(this.endTurn)
    } else if (nowMs - this.turnStartMs > BATCHES_MS) this.isTurnOver = true
  }

  private answerInBatch(batch: DatagramBatch, index: number): void {
    const port = batch.port(index)
    if (port === 0) return
    const address = batch.address(index)
    const { spare } = this
    const message = batch.message(index)
    const size = this.answers.fast(message, this.clientAt(address, port), spare)
    if (size < 0) return
    if (size === 0) this.queue.take(this, message, address, port)
    else if (!batch.respond(index, spare.bytes, size)) {
      this.send(spare.bytes.slice(0, size), address, port)
    }
  }

  /** Whether the network does not take responses for now. Then drops one. */
  private isStuck(): boolean {
    if (this.isClosed) return true
    // Bun and Deno have no such queue, or do not tell.
    if ((this.socket.getSendQueueSize?.() ?? 0) <= UNSENT_BYTES_MAX) return false
    this.onUnsent()
    return true
  }

  private clientAt(address: string, port: number): UdpClient {
    this.client.address = address
    this.client.port = port
    return this.client
  }

  private openBatch(): void {
    const { mmsg } = this
    const fd = descriptorOf(this.socket)
    if (mmsg !== undefined && fd !== undefined) this.batch = new DatagramBatch(mmsg, fd)
  }

  /** Sends the response in `writer`, which belongs to the socket until it calls `sent`. */
  private sendWritten(size: number, address: string, port: number): void {
    if (this.isStuck()) return
    this.isSending = true
    try {
      this.socket.send(this.writer.bytes, 0, size, port, address, this.sent)
    } catch {
      // The socket is closed.
    }
  }

  private send(response: Uint8Array | undefined, address: string, port: number): void {
    if (response === undefined || this.isStuck()) return
    try {
      this.socket.send(response, port, address, () => undefined)
    } catch {
      // The socket was closed before the response was ready.
    }
  }

  /** Makes the kernel refuse this address and port to other processes again. */
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
