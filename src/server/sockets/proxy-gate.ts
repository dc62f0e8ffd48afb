/**
 * Reads the PROXY header of a connection before anything else does: before TLS, HTTP or DNS over
 * TCP. For any listener that accepts paused sockets (`pauseOnConnect`).
 * @module
 */
import type { Socket } from 'node:net'
import { EMPTY } from '../../dns/bytes/bytes.ts'
import { readProxyHeader } from '../../dns/wire/proxy-header.ts'
import type { ProxyPolicy } from '../../resolver/contract/feature.ts'
import { elapsed } from '../node/elapsed.ts'
import { type Connection, ConnectionTable } from './connection-table.ts'
import { setEnds } from './socket-ends.ts'

/** Time until a header is complete. A load balancer sends it with the first packet. */
const HEADER_MS = 5000
/** Connections that wait for their header. */
const LIMITS = { connectionsMax: 1000, connectionsPerClientMax: 500 }

/** How a gate decides. */
export type ProxyGateOptions = {
  /** Returns what becomes of the header of a peer; called for each connection. */
  readonly policyOf: (address: string) => ProxyPolicy
  /** Called for each connection that is closed because of its header. */
  readonly onRefused?: () => void
  /** Milliseconds until a header is complete (default: 5,000). */
  readonly headerMs?: number
}

/** Connections of one listener, until their headers are read. */
export class ProxyGate {
  private readonly options: ProxyGateOptions
  private readonly waiting = new ConnectionTable<WaitingSocket>(() => LIMITS)

  constructor(options: ProxyGateOptions) {
    this.options = options
  }

  /**
   * Reads the header of a new, paused socket, if its peer may send one. The socket then has the
   * ends that the header names, and what follows it to read. Closes sockets whose header is
   * malformed, refused or late.
   * @param ready gets the socket, still paused; at once if no header is read
   */
  take(socket: Socket, ready: (socket: Socket) => void): void {
    const { policyOf, onRefused = () => undefined, headerMs = HEADER_MS } = this.options
    const { remoteAddress } = socket
    // A socket whose client has already disconnected has no address.
    const policy = remoteAddress === undefined ? 'skip' : policyOf(remoteAddress)
    if (remoteAddress === undefined || policy === 'skip') {
      ready(socket)
      return
    }
    const one = new WaitingSocket(socket, policy, headerMs, (isReady) => {
      this.waiting.remove(one)
      if (isReady) ready(socket)
      else {
        onRefused()
        socket.destroy()
      }
    })
    if (this.waiting.add(remoteAddress, one)) one.start()
    else socket.destroy()
  }

  /** Closes the sockets that wait. */
  close(): void {
    for (const one of this.waiting.all()) one.destroy()
  }
}

/** A socket whose header is not complete. */
class WaitingSocket implements Connection {
  readonly hasServed = false
  readonly idleSinceMs: number = elapsed()
  private readonly socket: Socket
  private readonly policy: ProxyPolicy
  private readonly headerMs: number
  private readonly finish: (isReady: boolean) => void
  private held: Uint8Array = EMPTY
  private deadline: NodeJS.Timeout | undefined
  private readonly read = (): void => this.readMore()
  private readonly refuse = (): void => this.end(false)

  constructor(
    socket: Socket,
    policy: ProxyPolicy,
    headerMs: number,
    finish: (isReady: boolean) => void,
  ) {
    this.socket = socket
    this.policy = policy
    this.headerMs = headerMs
    this.finish = finish
  }

  start(): void {
    const { socket } = this
    this.deadline = setTimeout(this.refuse, this.headerMs)
    socket.on('error', ignore)
    socket.on('close', this.refuse)
    socket.on('end', this.refuse)
    socket.on('readable', this.read)
  }

  destroy(): void {
    this.socket.destroy()
  }

  private readMore(): void {
    const chunk: unknown = this.socket.read()
    if (!(chunk instanceof Uint8Array)) return
    this.held = this.held.length === 0 ? chunk : Buffer.concat([this.held, chunk])
    const header = readProxyHeader(this.held)
    const { policy } = this
    if (header === 'cut') return
    if (header === 'none') this.pass(0, policy !== 'require')
    else if (header === 'malformed' || policy === 'reject') this.end(false)
    else {
      if (header.ends !== undefined && policy !== 'ignore') setEnds(this.socket, header.ends)
      this.pass(header.size, true)
    }
  }

  /** Puts back what follows the header. */
  private pass(size: number, isReady: boolean): void {
    const { socket, held } = this
    if (isReady && held.length > size) socket.unshift(held.subarray(size))
    this.end(isReady)
  }

  private end(isReady: boolean): void {
    const { socket } = this
    clearTimeout(this.deadline)
    socket.off('readable', this.read)
    socket.off('end', this.refuse)
    socket.off('close', this.refuse)
    if (isReady) socket.pause()
    this.finish(isReady)
  }
}

function ignore(): void {}
