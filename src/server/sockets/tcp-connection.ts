/**
 * One connection of a DNS client over TCP or TLS (RFC 7766). Answers pipelined queries in any
 * order, each as soon as its response is ready.
 * @module
 */

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { HEADER_BYTES } from '../../dns/names/limits.ts'
import { MessageStream } from '../../dns/wire/message-stream.ts'
import { ReplyWriter } from '../../dns/wire/reply-writer.ts'
import type { Client } from '../../resolver/contract/client.ts'
import { elapsed } from '../node/elapsed.ts'
import { TimeSlices } from '../node/time-slices.ts'
import type { Answer } from './answer.ts'
import { FramedResponses } from './framed-responses.ts'

/** Bounds of one connection. */
export type ConnectionTimes = {
  /** Queries in flight; at this number the server stops reading until one is answered. */
  readonly pendingMax: number
  /** Bytes of unread responses; beyond it the server stops reading queries. */
  readonly unreadBytesMax: number
  /** Milliseconds until the first complete message, and for the rest of a partial one. */
  readonly readMs: number
  /** Milliseconds between messages (RFC 7766 §6.2.3). */
  readonly idleMs: number
  /** Milliseconds that a client may leave more than `unreadBytesMax` unread. */
  readonly writeMs: number
  /** Queries per connection; Infinity for no limit. */
  readonly queriesMax: number
}

/** How to serve a connection. */
export type ConnectionService = {
  /** Returns the function that answers; called for each message. */
  readonly answer: () => Answer
  readonly limits: ConnectionTimes
  readonly transport: 'tcp' | 'tls'
  /** Called after each change of `idleSinceMs` or `hasServed`. */
  readonly onChange: () => void
}

/** Messages to answer for one connection before those of other connections. */
const SLICE_MESSAGES = 32
/** Those that a message counts as when a promise answers it. */
const PROMISE_MESSAGES = 2
/** Shared by all connections, because they share the event loop. */
const slices = new TimeSlices()
/** Shared by all connections: each response is copied out of it synchronously. */
const writer = new ReplyWriter()
/** Responses of the present slice, which belongs to one connection. */
const responses = new FramedResponses()

/** An open connection. */
export class TcpConnection {
  private readonly socket: Socket
  private readonly service: ConnectionService
  private readonly stream: MessageStream
  private readonly client: Client
  /** Whether the server has answered a query. */
  hasServed = false
  private activeMs = elapsed()
  private pending = 0
  private queriesLeft: number
  /** Messages left to take in this slice. */
  private sliceLeft = 0
  private hasEnded = false
  private isWaiting = false
  private deadline: NodeJS.Timeout | undefined
  private writing: NodeJS.Timeout | undefined
  private readonly written = (): void => this.noteWritten()
  private readonly takeTurn = (): number => {
    this.isWaiting = false
    const before = this.pending
    this.proceed()
    return this.pending - before
  }

  /** Starts to serve a socket. */
  constructor(socket: Socket, service: ConnectionService) {
    this.socket = socket
    this.service = service
    this.queriesLeft = service.limits.queriesMax
    this.stream = new MessageStream((message) => this.take(message))
    this.client = {
      address: socket.remoteAddress ?? '',
      port: socket.remotePort ?? 0,
      transport: service.transport,
      localAddress: socket.localAddress ?? '',
      localPort: socket.localPort ?? 0,
      sendAhead: (ahead) => this.sendAhead(ahead),
    }
    this.expectWithin(service.limits.readMs)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(this.deadline)
      clearTimeout(this.writing)
    })
    socket.on('data', (chunk) => {
      if (typeof chunk !== 'string') this.receive(chunk)
    })
    socket.on('end', () => {
      this.hasEnded = true
      this.settle()
    })
  }

  /**
   * Since when the server has been waiting for the client to send or read, in milliseconds of
   * `elapsed`; `Infinity` while it has queries to answer.
   */
  get idleSinceMs(): number {
    const isOurTurn = this.pending > 0 || (this.stream.hasUnread && !this.isUnread)
    return isOurTurn ? Number.POSITIVE_INFINITY : this.activeMs
  }

  /**
   * Ends the connection after the last response; one without a response yet, or in a query,
   * stays.
   */
  finish(): void {
    if (!this.hasServed || this.stream.isWithinMessage) return
    this.hasEnded = true
    this.settle()
  }

  /**
   * Answers the first messages of a chunk, at once unless many connections have messages. The
   * others wait for a later slice, because a chunk may hold thousands.
   */
  private receive(chunk: Uint8Array): void {
    this.activeMs = elapsed()
    this.stream.hold(chunk)
    this.isWaiting = true
    slices.addFirst(this.takeTurn)
    if (this.isWaiting) this.socket.pause()
  }

  /** Takes the messages of one slice, and sends their responses together. */
  private proceed(): void {
    const { socket, stream, service } = this
    if (socket.destroyed) return
    const wasWithin = stream.isWithinMessage
    this.sliceLeft = SLICE_MESSAGES
    responses.size = 0
    const isValid = stream.resume()
    this.flush()
    if (!isValid) socket.destroy()
    const hasTaken = this.sliceLeft < SLICE_MESSAGES
    const isNew = hasTaken || !wasWithin
    if (isNew && stream.isWithinMessage) this.expectWithin(service.limits.readMs)
    else if (hasTaken) this.expectWithin(service.limits.idleMs)
    this.settle()
  }

  private take(message: Uint8Array): void {
    const { socket, service } = this
    if (message.length < HEADER_BYTES) {
      this.flush()
      socket.destroy()
      this.stream.pause()
      return
    }
    this.queriesLeft--
    this.sliceLeft--
    const result = service.answer()(message, this.client, writer)
    if (typeof result === 'number') this.collect(writer.bytes, result)
    else if (result instanceof Promise) {
      this.pending++
      this.sliceLeft -= PROMISE_MESSAGES - 1
      void result.then((later) => {
        this.pending--
        this.activeMs = elapsed()
        this.send(later)
        this.settle()
      })
    } else if (result !== undefined) this.collect(result, result.length)
    if (this.sliceLeft <= 0 || this.isBusy || this.queriesLeft <= 0) this.stream.pause()
  }

  /** Sends the first `size` bytes together with the other responses of the slice. */
  private collect(response: Uint8Array, size: number): void {
    if (responses.add(response, size)) return
    this.flush()
    responses.add(response, size)
  }

  private send(response: Uint8Array | undefined): void {
    if (response === undefined) return
    this.collect(response, response.length)
    this.flush()
  }

  /** Writes the collected responses. */
  private flush(): void {
    const { socket } = this
    if (responses.size === 0) return
    const framed = responses.take()
    if (socket.destroyed) return
    socket.write(framed, this.written)
    this.hasServed = true
    if (!this.isUnread) return
    this.writing ??= setTimeout(() => socket.destroy(), this.service.limits.writeMs)
  }

  private noteWritten(): void {
    if (this.writing === undefined || this.socket.writableLength > 0) return
    clearTimeout(this.writing)
    this.writing = undefined
    this.settle()
  }

  private async sendAhead(message: Uint8Array): Promise<void> {
    const { socket } = this
    this.send(message)
    if (socket.destroyed) throw new Error('the client closed the connection')
    if (!socket.writableNeedDrain) return
    const abort = new AbortController()
    try {
      const { signal } = abort
      await Promise.race([once(socket, 'drain', { signal }), once(socket, 'close', { signal })])
    } finally {
      abort.abort()
    }
  }

  /**
   * Pauses reading while the client leaves responses unread or too many queries are in flight, and
   * closes the connection after the last response.
   */
  private settle(): void {
    const { socket, stream, service } = this
    if (socket.destroyed) return
    if (this.queriesLeft <= 0) this.hasEnded = true
    const hasUnread = stream.hasUnread && this.queriesLeft > 0
    if (hasUnread && !this.isBusy && !this.isWaiting) {
      this.isWaiting = true
      slices.add(this.takeTurn)
    }
    if (hasUnread || this.isBusy) socket.pause()
    else socket.resume()
    if (this.hasEnded && this.pending === 0 && !hasUnread) socket.end()
    service.onChange()
  }

  private get isBusy(): boolean {
    return this.pending >= this.service.limits.pendingMax || this.isUnread
  }

  /** Whether the client leaves more than `unreadBytesMax` unread. */
  private get isUnread(): boolean {
    return this.socket.writableLength + responses.size > this.service.limits.unreadBytesMax
  }

  /** Closes the connection unless a message arrives in time or the server still has work for it. */
  private expectWithin(delayMs: number): void {
    clearTimeout(this.deadline)
    this.deadline = setTimeout(() => {
      const isOurTurn = this.pending > 0 || this.stream.hasUnread || this.isBusy
      if (isOurTurn) this.expectWithin(delayMs)
      else this.socket.destroy()
    }, delayMs)
  }
}
