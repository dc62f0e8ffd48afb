/**
 * A client's connection as an HTTP server keeps it: what it waits for, and how long it may take.
 * @module
 */
import type { Connection } from './connection-table.ts'
import type { Expected } from './http-gate.ts'
import type { SocketEnds } from './http-request.ts'

/** Time for a TLS handshake, in milliseconds. */
export const HANDSHAKE_MS = 10_000

/**
 * Requests of HTTP/1.1 that are under way at once. The gate lets more through only where the end of
 * a body and requests share a chunk.
 */
const PIPELINED_MAX = 40

/** What a runtime's own bounds get beyond their time, to answer 408 before the connection ends. */
const GRACE_MS = 2000

/** How long each phase of a connection may take, in milliseconds. */
export type PhaseTimes = {
  /** From the end of a handshake to the end of the first request's headers. */
  readonly readMs: number
  /** Between requests of HTTP/1.1, up to the first byte of the next. */
  readonly idleMs: number
  /** From the end of a request's headers until the client has taken the response. */
  readonly writeMs: number
}

/** What is needed of the socket below. */
export type BoundedSocket = SocketEnds & {
  destroy(): unknown
}

/** What HTTP/1.1 goes through. */
export type BoundedGate = {
  readonly writableNeedDrain: boolean
  /** Learns that a response is complete. */
  proceed(): void
}

/** What is needed of a request of HTTP/1.1. */
export type BoundedRequest = {
  /** Whether its body has arrived. */
  readonly complete: boolean
}

/** A connection of HTTP/2, which bounds its streams itself. */
export type SelfBounded = Pick<Connection, 'idleSinceMs' | 'hasServed'> & {
  check(nowMs: number, times: PhaseTimes): void
  /** Ends it at once, in its own way. */
  close(): void
}

/** What a connection waits for, unless it is one of HTTP/2. */
type Phase = 'handshake' | 'first request' | 'next request' | 'response'

/** One connection, from its first byte on. */
export class ServedSocket implements Connection {
  private readonly socket: BoundedSocket
  private phase: Phase | SelfBounded
  private sinceMs: number
  private served = false
  /** Requests of HTTP/1.1 that came at once and are answered in turn. */
  private pending = 0
  private gate: BoundedGate | undefined
  /** The last request whose headers are complete. */
  private request: BoundedRequest | undefined

  /** @param isSecure whether a TLS handshake comes first */
  constructor(socket: BoundedSocket, isSecure: boolean, nowMs: number) {
    this.socket = socket
    this.phase = isSecure ? 'handshake' : 'first request'
    this.sinceMs = nowMs
  }

  get idleSinceMs(): number {
    const { phase, gate, sinceMs } = this
    if (typeof phase === 'object') return phase.idleSinceMs
    // A client that leaves its response unread, or its request unfinished, is as idle as one that
    // sends nothing: it must not keep its place while others lose theirs.
    const isUnfinished = this.pending === 1 && this.request?.complete === false
    const isWaiting = phase !== 'response' || isUnfinished || gate?.writableNeedDrain === true
    return isWaiting ? sinceMs : Number.POSITIVE_INFINITY
  }

  get hasServed(): boolean {
    return typeof this.phase === 'object' ? this.phase.hasServed : this.served
  }

  /** The handshake is done: the connection carries HTTP/1.1, or the given one of HTTP/2. */
  secured(nowMs: number, http2?: SelfBounded): void {
    this.phase = http2 ?? 'first request'
    this.sinceMs = nowMs
  }

  /** The connection carries HTTP/1.1 through a gate. */
  bind(gate: BoundedGate): void {
    this.gate = gate
  }

  /** Returns what the next bytes of HTTP/1.1 are for. */
  expected(): Expected {
    if (this.request?.complete === false) return 'body'
    return this.pending > 0 ? 'wait' : 'request'
  }

  /** The headers of a request of HTTP/1.1 are complete. Ends a connection with too many. */
  requested(nowMs: number, request: BoundedRequest): void {
    if (this.pending++ === 0) this.sinceMs = nowMs
    this.request = request
    this.phase = 'response'
    if (this.pending > PIPELINED_MAX) this.destroy()
  }

  /** A response is written. @param status its status: one from 400 on serves nobody */
  responded(nowMs: number, status: number): void {
    this.sinceMs = nowMs
    if (status < 400) this.served = true
    if (--this.pending === 0) this.phase = 'next request'
    this.gate?.proceed()
  }

  /** Ends the connection when it has been in its phase for too long. */
  check(nowMs: number, times: PhaseTimes): void {
    if (typeof this.phase === 'object') this.phase.check(nowMs, times)
    else if (nowMs - this.sinceMs >= phaseMs(this.phase, times)) this.destroy()
  }

  /** Ends the connection; a client of HTTP/2 learns which requests nobody will answer. */
  close(): void {
    if (typeof this.phase === 'object') this.phase.close()
    else this.destroy()
  }

  destroy(): void {
    this.socket.destroy()
  }
}

function phaseMs(phase: Phase, { readMs, idleMs, writeMs }: PhaseTimes): number {
  switch (phase) {
    case 'handshake':
      return Math.min(HANDSHAKE_MS, readMs)
    case 'first request':
      return readMs + GRACE_MS
    case 'next request':
      return idleMs + readMs + GRACE_MS
    case 'response':
      return writeMs
  }
}
