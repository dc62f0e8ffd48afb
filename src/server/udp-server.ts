/**
 * Answers over UDP. One socket an address, so that replies leave from the address that was asked
 * (RFC 2181 §4.1).
 * @module
 */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { recordOf } from '../bytes/unknown.ts'
import type { Client } from '../chain/client.ts'
import type { AnswerResult } from '../chain/incoming.ts'
import { ReplyWriter } from '../dns/reply-writer.ts'
import { DatagramBatch } from './datagram-batch.ts'
import { type Mmsg, openMmsg } from './mmsg.ts'

/**
 * Answers a message: at once in the writer, or in memory of its own. Keeps the client only when the
 * result is no number.
 */
export type Answer = (message: Uint8Array, client: Client, writer: ReplyWriter) => AnswerResult

/** Bytes the system may hold for us while we are busy. */
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024

/**
 * Datagrams that Node reads alone after a batch that was empty: a server that keeps up with its
 * queries would pay 0.5 µs for each of them to learn that there are no more.
 */
const SKIPS = 8

/** The sender of a datagram, and of the next one unless somebody has kept it. */
type UdpClient = Client & { address: string; port: number }

/** How a socket differs from the usual one. */
export type UdpOptions = {
  readonly knownAs?: string
  readonly sharesPort?: boolean
  readonly mmsg?: Mmsg | undefined
}

/** A UDP socket that answers. */
export class UdpServer {
  private readonly socket: Socket
  private readonly mmsg: Mmsg | undefined
  private readonly answer: () => Answer
  private readonly localAddress: string
  private localPort = 0
  /** The client of the next query, unless the last one was kept. */
  private client: UdpClient | undefined
  private readonly writer = new ReplyWriter()
  /** For responses while the socket still has the last one: they are copied. */
  private readonly spare = new ReplyWriter()
  private isSending = false
  private batch: DatagramBatch | undefined
  private isClosed = false
  /** Datagrams to leave to Node before the next batch is tried. */
  private skips = 0
  private readonly unsent = (index: number, response: Uint8Array): void => {
    const { batch } = this
    if (batch !== undefined) this.send(response, batch.address(index), batch.port(index))
  }
  private readonly sent = (): void => {
    this.isSending = false
  }

  /**
   * @param answer gives the function to answer with at the time of each message
   * @param knownAs the address that was to be listened on, where this is one of those it stands for
   * @param sharesPort whether other processes have sockets like it; the system chooses among them
   * @param mmsg sends and receives many datagrams at once; one at a time without it
   */
  constructor(
    address: string,
    answer: () => Answer,
    { knownAs = address, sharesPort = false, mmsg = openMmsg() }: UdpOptions = {},
  ) {
    this.mmsg = mmsg
    this.answer = answer
    this.localAddress = knownAs
    const reusePort = sharesPort
    this.socket = address.includes(':')
      ? createSocket({ type: 'udp6', ipv6Only: true, reusePort })
      : createSocket({ type: 'udp4', reusePort })
    this.socket.on('message', (message, remote) => {
      this.receive(message, remote)
      this.receiveBatch()
    })
  }

  /** Starts to listen. @returns the port @throws {Error} when the address is taken */
  listen(address: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        this.socket.close()
        reject(error)
      }
      this.socket.once('error', fail)
      this.socket.bind({ address, port }, () => {
        this.socket.off('error', fail)
        // What the network reports of clients that are gone concerns nobody else.
        this.socket.on('error', () => undefined)
        this.enlargeBuffer()
        this.localPort = this.socket.address().port
        this.openBatch()
        resolve(this.localPort)
      })
    })
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

  /** Answers the datagrams that have arrived meanwhile, all by one call of the system. */
  private receiveBatch(): void {
    const { batch } = this
    if (batch === undefined || this.isClosed || this.skips-- > 0) return
    const count = batch.receive()
    this.skips = count === 0 ? SKIPS : 0
    for (let i = 0; i < count; i++) this.answerInBatch(batch, i)
    if (count > 0) batch.flush(this.unsent)
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

  /** Returns the client of a query: the same object as last time, unless that was kept. */
  private clientAt(address: string, port: number): UdpClient {
    const { localAddress, localPort } = this
    this.client ??= { address, port, transport: 'udp', localAddress, localPort }
    this.client.address = address
    this.client.port = port
    return this.client
  }

  /** Sends a response in memory of its own, now or later. Its query's client may have been kept. */
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

  /** Sends what is in the writer, which the socket has until it says that all is sent. */
  private sendWritten(size: number, address: string, port: number): void {
    this.isSending = true
    try {
      this.socket.send(this.writer.bytes, 0, size, port, address, this.sent)
    } catch {
      // The socket is closed; nothing is sent any more.
    }
  }

  private send(response: Uint8Array | undefined, address: string, port: number): void {
    if (response === undefined) return
    try {
      this.socket.send(response, port, address, () => undefined)
    } catch {
      // The socket was closed while the answer was on its way.
    }
  }

  private enlargeBuffer(): void {
    try {
      this.socket.setRecvBufferSize(RECEIVE_BUFFER_BYTES)
    } catch {
      // Some systems allow no more than they gave; queries are then lost a little earlier.
    }
  }
}

/** Returns the descriptor of a bound socket; Node has no public name for it. */
function descriptorOf(socket: object): number | undefined {
  const state = Object.getOwnPropertySymbols(socket).find(
    ({ description }) => description === 'state symbol',
  )
  const { handle } = recordOf(state === undefined ? undefined : Reflect.get(socket, state))
  const { fd } = recordOf(handle)
  return typeof fd === 'number' && fd >= 0 ? fd : undefined
}
