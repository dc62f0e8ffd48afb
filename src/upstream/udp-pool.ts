/**
 * Asks one upstream over UDP. Each query has a socket, and so a port that nobody can guess, of its
 * own (RFC 5452 §9.2) until there are as many as there may be; then queries share them at random.
 * @module
 */
import { createSocket, type Socket } from 'node:dgram'
import { readUint16, writeUint16 } from '../bytes/bytes.ts'
import { OverloadError } from '../chain/host.ts'
import { random16 } from '../node/random16.ts'
import { answers } from './answers.ts'

/** Sockets to one upstream at a time. */
const SOCKETS_MAX = 128
/** Queries that wait for one upstream; the one that has waited longest makes room for a new one. */
const PENDING_MAX = 4096
/** Queries for which a socket is picked; after them, it only waits for its last responses. */
const USES_MAX = 256
/** One for all: to write down the stack for each took a tenth of the time to drop it. */
const OVERLOAD = new OverloadError()

/** The upstream. */
export type UdpUpstream = {
  /** An address. */
  readonly address: string
  readonly port: number
  /** The address to ask from; the system's choice when left out. */
  readonly sourceAddress?: string | undefined
}

type Pending = {
  /** The query as it was sent, with the ID that it has on its socket. */
  readonly query: Uint8Array
  readonly settle: (result: Uint8Array | Error) => void
}

/** The sockets to one upstream. */
export class UdpPool {
  private readonly upstream: UdpUpstream
  /** Those that may be picked. */
  private readonly open: PoolSocket[] = []
  private readonly draining = new Set<PoolSocket>()
  /** What ends the wait for each response, the oldest first. */
  private readonly waiting = new Set<(reason: Error) => void>()

  constructor(upstream: UdpUpstream) {
    this.upstream = upstream
  }

  /**
   * Sends a query and resolves with the response to it. Whatever else arrives is passed over until
   * then: anybody may send it.
   * @throws {OverloadError} when 4,096 later queries wait
   * @throws {Error} that says what went wrong
   */
  ask(query: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    const [oldest] = this.waiting
    if (this.waiting.size >= PENDING_MAX) oldest?.(OVERLOAD)
    return new Promise((resolve, reject) => {
      const socket = this.pick()
      const fail = (reason: Error): void => {
        clearTimeout(timer)
        this.waiting.delete(fail)
        forget()
        reject(reason)
      }
      const timer = setTimeout(() => fail(new Error('no answer over UDP in time')), timeoutMs)
      this.waiting.add(fail)
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

/** One socket, from its first query until it has the response to its last. */
class PoolSocket {
  /** Queries that were given to it. */
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
    this.socket.on('message', (reply) => this.take(reply))
    this.socket.on('connect', () => {
      this.isConnected = true
      // No callback: with one, an unreachable network would not come as an 'error' event.
      for (const { query } of this.pending.values()) this.socket.send(query)
    })
    if (sourceAddress !== undefined) this.socket.bind({ address: sourceAddress })
    this.socket.connect(port, address)
  }

  /** Sends a query. Returns a function that gives up the wait for its response. */
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
    if (pending === undefined || !answers(reply, pending.query)) return
    this.forget(id)
    pending.settle(reply)
  }

  private forget(id: number): void {
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
    for (const { settle } of left) settle(reason)
  }

  /** The ID that the query has; another random one where a query has that already. */
  private freeId(wanted: number): number {
    let id = wanted
    while (this.pending.has(id)) id = random16()
    return id
  }
}
