/**
 * Queries one upstream over UDP. Each query has its own socket with an unpredictable port (RFC 5452
 * §9.2); at the maximum of sockets, queries share them at random.
 * @module
 */
import { createSocket, type Socket } from 'node:dgram'
import { readUint16, writeUint16 } from '../../dns/bytes/bytes.ts'
import { OverloadError, QuestionlessError } from '../../resolver/contract/host.ts'
import { random16 } from '../keys/random16.ts'
import { timerMs } from '../node/timer-ms.ts'
import { answers, isQuestionless } from './answers.ts'

/** Maximum number of sockets to one upstream. */
const SOCKETS_MAX = 128
/** Maximum number of pending queries to one upstream; a new one evicts the oldest. */
const PENDING_MAX = 4096
/** Number of queries on a socket; after them, it only waits for its last responses. */
const USES_MAX = 256
/** How long a query waits for another response after one without a question. */
const DOUBT_MS = 100
/** Shared: to capture a stack for each would take a tenth of the time of dropping a query. */
const OVERLOAD = new OverloadError()

/** The upstream. */
export type UdpUpstream = {
  /** An address. */
  readonly address: string
  readonly port: number
  /** Source address; the system's choice if absent. */
  readonly sourceAddress?: string | undefined
}

type Pending = {
  /** The query with its ID on the socket. */
  readonly query: Uint8Array
  readonly settle: (result: Uint8Array | Error) => void
  /** Runs after a response without a question. */
  doubt?: NodeJS.Timeout
}

/** The sockets to one upstream. */
export class UdpPool {
  private readonly upstream: UdpUpstream
  /** Sockets that accept queries. */
  private readonly open: PoolSocket[] = []
  private readonly draining = new Set<PoolSocket>()
  /** Functions that reject the pending queries, the oldest first. */
  private readonly waiting = new Set<(reason: Error) => void>()

  constructor(upstream: UdpUpstream) {
    this.upstream = upstream
  }

  /**
   * Sends a query and resolves with its response. Ignores other messages, which anybody can send.
   * The signal ends the query early.
   * @throws {OverloadError} if 4,096 later queries are pending
   * @throws {QuestionlessError} if there is only a response without a question
   * @throws {Error} with the reason
   */
  ask(query: Uint8Array, timeoutMs: number, signal?: AbortSignal): Promise<Uint8Array> {
    const [oldest] = this.waiting
    if (this.waiting.size >= PENDING_MAX) oldest?.(OVERLOAD)
    return new Promise((resolve, reject) => {
      const socket = this.pick()
      const fail = (reason: Error): void => {
        if (!this.waiting.delete(fail)) return
        clearTimeout(timer)
        forget()
        reject(reason)
      }
      const late = (): void => fail(new Error('no response over UDP in time'))
      const timer = setTimeout(late, timerMs(timeoutMs))
      this.waiting.add(fail)
      signal?.addEventListener('abort', () => fail(new Error('aborted')), { once: true })
      const forget = socket.send(query, (result) => {
        if (result instanceof Error) {
          fail(result)
          return
        }
        clearTimeout(timer)
        this.waiting.delete(fail)
        resolve(result)
      })
    })
  }

  private pick(): PoolSocket {
    const { open, draining } = this
    if (open.length + draining.size < SOCKETS_MAX || open.length === 0) return this.add()
    const index = random16() % open.length
    const socket = open[index] ?? this.add()
    if (++socket.uses >= USES_MAX) {
      open.splice(index, 1)
      draining.add(socket)
    }
    return socket
  }

  private add(): PoolSocket {
    const socket = new PoolSocket(this.upstream, () => {
      this.draining.delete(socket)
      const index = this.open.indexOf(socket)
      if (index >= 0) this.open.splice(index, 1)
    })
    this.open.push(socket)
    return socket
  }
}

/** A socket, from its first query to the response to its last one. */
class PoolSocket {
  /** Number of its queries so far. */
  uses = 1
  private readonly socket: Socket
  private readonly pending = new Map<number, Pending>()
  private readonly onClosed: () => void
  private isConnected = false
  private isClosed = false

  constructor({ address, port, sourceAddress }: UdpUpstream, onClosed: () => void) {
    this.onClosed = onClosed
    this.socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
    this.socket.on('error', (error) => this.close(error))
    // A Buffer's `slice` would share its bytes.
    this.socket.on('message', ({ buffer, byteOffset, length }) => {
      this.take(new Uint8Array(buffer, byteOffset, length))
    })
    this.socket.on('connect', () => {
      this.isConnected = true
      // Without a callback: with one, an unreachable network would not emit 'error'.
      for (const { query } of this.pending.values()) this.socket.send(query)
    })
    if (sourceAddress !== undefined) this.socket.bind({ address: sourceAddress })
    this.socket.connect(port, address)
  }

  /** Sends a query. Returns a function that cancels it. */
  send(query: Uint8Array, onResult: (result: Uint8Array | Error) => void): () => void {
    const id = this.freeId(readUint16(query, 0))
    const sent = query.slice()
    writeUint16(sent, 0, id)
    const settle = (result: Uint8Array | Error): void => {
      if (!(result instanceof Error)) writeUint16(result, 0, readUint16(query, 0))
      onResult(result)
    }
    this.pending.set(id, { query: sent, settle })
    if (this.isConnected) this.socket.send(sent)
    return () => this.forget(id)
  }

  private take(reply: Uint8Array): void {
    const id = reply.length < 2 ? -1 : readUint16(reply, 0)
    const pending = this.pending.get(id)
    if (pending === undefined) return
    if (!answers(reply, pending.query)) {
      if (isQuestionless(reply, pending.query)) this.doubt(id, pending)
      return
    }
    this.forget(id)
    pending.settle(reply)
  }

  /** Ends a query soon: a forged message without a question may come before the response. */
  private doubt(id: number, pending: Pending): void {
    pending.doubt ??= setTimeout(() => {
      this.forget(id)
      pending.settle(new QuestionlessError())
    }, DOUBT_MS)
  }

  private forget(id: number): void {
    clearTimeout(this.pending.get(id)?.doubt)
    this.pending.delete(id)
    if (this.pending.size === 0) this.close(new Error('closed'))
  }

  private close(reason: Error): void {
    if (this.isClosed) return
    this.isClosed = true
    this.socket.close()
    this.onClosed()
    const left = [...this.pending.values()]
    this.pending.clear()
    for (const { settle, doubt } of left) {
      clearTimeout(doubt)
      settle(reason)
    }
  }

  /** Returns the query's ID, or another random one if that is taken on this socket. */
  private freeId(wanted: number): number {
    let id = wanted
    while (this.pending.has(id)) id = random16()
    return id
  }
}
