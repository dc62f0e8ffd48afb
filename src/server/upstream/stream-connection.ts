/**
 * A connection to an upstream over TCP or TLS with pipelined queries, answered in any order (RFC
 * 7766 §6.2.1.1).
 * @module
 */
import type { Socket } from 'node:net'
import { concatBytes, readUint16, uint16Bytes, writeUint16 } from '../../dns/bytes/bytes.ts'
import { MessageStream } from '../../dns/wire/message-stream.ts'
import { timerMs } from '../node/timer-ms.ts'
import { answersOnStream } from './answers.ts'

/** A connection that ended before the response. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError'
}

type Pending = {
  /** The query with its ID on this connection. */
  readonly query: Uint8Array
  readonly resolve: (reply: Uint8Array) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout
}

/** Options of a connection. */
export type ConnectionOptions = {
  /** Milliseconds of the pool's clock. */
  readonly now: () => number
  /** How long it stays open while idle. */
  readonly expireMs: number
  /** Called when the last pending query has its response. */
  readonly onIdle: () => void
  /** Called when a query gets no response in time, with the time at which it was sent. */
  readonly onTimeout: (sentMs: number) => void
}

/** A connection to an upstream. */
export class StreamConnection {
  readonly openedMs: number
  /** When it was opened or received its last response. */
  aliveMs: number
  /** Whether it accepts queries. */
  isOpen = true
  /** Whether it has received a response. */
  hasAnswered = false
  private readonly socket: Socket
  private readonly pending = new Map<number, Pending>()
  private readonly options: ConnectionOptions

  /** @param socket connecting or connected */
  constructor(socket: Socket, options: ConnectionOptions) {
    this.openedMs = options.now()
    this.aliveMs = this.openedMs
    this.socket = socket
    this.options = options
    const stream = new MessageStream((reply) => {
      this.take(reply)
    })
    socket.on('data', (chunk) => {
      const isSound = typeof chunk !== 'string' && stream.push(chunk)
      if (!isSound) this.end(new Error('the upstream sent an empty message'))
    })
    socket.on('error', (error) => {
      this.end(new ConnectionLostError(error.message, { cause: error }))
    })
    socket.on('end', () => {
      this.end()
    })
    socket.on('close', () => {
      this.end()
    })
    socket.setTimeout(Math.max(options.expireMs, 1), () => {
      if (this.pendingCount === 0) this.end()
    })
  }

  /** Number of pending queries. */
  get pendingCount(): number {
    return this.pending.size
  }

  /**
   * Sends a query and resolves with its response, which has the query's own ID. The signal ends
   * the query early; the connection stays open.
   * @throws {ConnectionLostError} if the connection ends first
   */
  ask(query: Uint8Array, timeoutMs: number, signal?: AbortSignal): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const id = this.freeId(readUint16(query, 0))
      const sentMs = this.options.now()
      const timer = setTimeout(() => {
        this.giveUp(id)
        this.options.onTimeout(sentMs)
      }, timerMs(timeoutMs))
      const framed = concatBytes(uint16Bytes(query.length), query)
      writeUint16(framed, 2, id)
      const answered = (reply: Uint8Array): void => {
        writeUint16(reply, 0, readUint16(query, 0))
        resolve(reply)
      }
      const pending = { query: framed.subarray(2), resolve: answered, reject, timer }
      this.pending.set(id, pending)
      const abort = (): void => {
        if (this.pending.get(id) !== pending) return
        clearTimeout(timer)
        this.pending.delete(id)
        reject(new Error('aborted'))
        this.settle()
      }
      signal?.addEventListener('abort', abort, { once: true })
      this.socket.write(framed)
    })
  }

  /** Closes the connection and rejects the pending queries with the reason. */
  end(reason: Error = new ConnectionLostError('the upstream closed the connection')): void {
    this.isOpen = false
    this.socket.destroy()
    const waiting = [...this.pending.values()]
    this.pending.clear()
    for (const { reject, timer } of waiting) {
      clearTimeout(timer)
      reject(reason)
    }
  }

  /** Accepts no further queries, and closes after the last pending response. */
  retire(): void {
    this.isOpen = false
    this.settle()
  }

  private take(reply: Uint8Array): void {
    const id = reply.length < 2 ? -1 : readUint16(reply, 0)
    const pending = this.pending.get(id)
    // A late response, or one without a query.
    if (pending === undefined || !answersOnStream(reply, pending.query)) return
    this.hasAnswered = true
    this.aliveMs = this.options.now()
    clearTimeout(pending.timer)
    this.pending.delete(id)
    pending.resolve(reply)
    this.settle()
  }

  /** Rejects a query, and closes the connection to further ones: the upstream may be gone. */
  private giveUp(id: number): void {
    const pending = this.pending.get(id)
    this.pending.delete(id)
    pending?.reject(new Error('no response over TCP in time'))
    this.retire()
  }

  private settle(): void {
    if (this.pending.size > 0) return
    if (this.isOpen) this.options.onIdle()
    else this.end()
  }

  /** Returns the query's ID, or the next one that is free on this connection. */
  private freeId(wanted: number): number {
    let id = wanted
    while (this.pending.has(id)) id = (id + 1) & 0xffff
    return id
  }
}
