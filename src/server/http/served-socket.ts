/**
 * Tracks the phase of an HTTP connection, and ends it when a phase takes too long.
 * @module
 */
import { HANDSHAKE_MS } from '../keys/tls-service.ts'
import type { Connection } from '../sockets/connection-table.ts'
import { widenReceiveBuffer } from '../sockets/receive-buffer.ts'
import type { Expected } from './http-gate.ts'
import type { SocketEnds } from './http-request.ts'

/**
 * HTTP/1.1 requests in flight on a connection. The gate lets through more than one only when the
 * end of a body and further requests share a chunk.
 */
const PIPELINED_MAX = 40

/** Extra time, so that Node's own limits can answer 408 before we close the connection. */
const GRACE_MS = 2000

/** How long each phase of a connection may take, in milliseconds. */
export type PhaseTimes = {
  /** From the end of a handshake to the end of the first request's headers. */
  readonly readMs: number
  /** Between HTTP/1.1 requests, up to the first byte of the next. */
  readonly idleMs: number
  /** From the end of a request's headers until the client has read the response. */
  readonly writeMs: number
}

/** The part of a socket that this module uses. */
export type BoundedSocket = SocketEnds & {
  destroy(): unknown
}

/** The part of an HTTP/1.1 gate that this module uses. */
export type BoundedGate = {
  readonly writableNeedDrain: boolean
  /** Continues reading; called when a response is complete. */
  proceed(): void
}

/** The part of an HTTP/1.1 request that this module uses. */
export type BoundedRequest = {
  /** Whether its body has arrived. */
  readonly complete: boolean
}

/** An HTTP/2 connection, which bounds its own streams. */
export type SelfBounded = Pick<Connection, 'idleSinceMs' | 'hasServed'> & {
  check(nowMs: number, times: PhaseTimes): void
  /** Asks the client to send its further requests over another connection. */
  leave(): void
  /** Closes the connection once the requests that have arrived are answered. */
  finish(): void
  /** Closes the connection at once. */
  close(): void
}

/** What an HTTP/1.1 connection waits for. */
type Phase = 'handshake' | 'first request' | 'next request' | 'response'

/** One connection, from its accept on. */
export class ServedSocket implements Connection {
  private readonly socket: BoundedSocket
  private phase: Phase | SelfBounded
  private sinceMs: number
  private served = false
  /** HTTP/1.1 requests without a complete response. */
  private pending = 0
  private gate: BoundedGate | undefined
  /** The last request whose headers are complete. */
  private request: BoundedRequest | undefined

  /** @param isSecure whether the connection starts with a TLS handshake */
  constructor(socket: BoundedSocket, isSecure: boolean, nowMs: number) {
    this.socket = socket
    this.phase = isSecure ? 'handshake' : 'first request'
    this.sinceMs = nowMs
  }

  get idleSinceMs(): number {
    const { phase, gate, sinceMs } = this
    if (typeof phase === 'object') return phase.idleSinceMs
    // A client that does not read its response or finish its request counts as idle: otherwise it
    // would keep its place while other clients lose theirs.
    const isUnfinished = this.pending === 1 && this.request?.complete === false
    const isWaiting = phase !== 'response' || isUnfinished || gate?.writableNeedDrain === true
    return isWaiting ? sinceMs : Number.POSITIVE_INFINITY
  }

  get hasServed(): boolean {
    return typeof this.phase === 'object' ? this.phase.hasServed : this.served
  }

  /** Call it after the handshake, with the HTTP/2 connection if the client speaks HTTP/2. */
  secured(nowMs: number, http2?: SelfBounded): void {
    this.phase = http2 ?? 'first request'
    this.sinceMs = nowMs
  }

  /** Sets the gate of an HTTP/1.1 connection. */
  bind(gate: BoundedGate): void {
    this.gate = gate
  }

  /** Returns what the next HTTP/1.1 bytes belong to. */
  expected(): Expected {
    if (this.request?.complete === false) return 'body'
    return this.pending > 0 ? 'wait' : 'request'
  }

  /** Call it when the headers of a request are complete. Ends a connection with too many. */
  requested(nowMs: number, request: BoundedRequest): void {
    if (this.pending++ === 0) this.sinceMs = nowMs
    this.request = request
    this.phase = 'response'
    if (this.pending > PIPELINED_MAX) this.destroy()
  }

  /** Call it when a response is written. A status from 400 on does not count as served. */
  responded(nowMs: number, status: number): void {
    this.sinceMs = nowMs
    if (status < 400) this.served = true
    if (--this.pending === 0) this.phase = 'next request'
    this.gate?.proceed()
  }

  /** Call it when the app has accepted an upload: lets the client send the next one faster. */
  trust(): void {
    widenReceiveBuffer(this.socket)
  }

  /** Ends the connection when its phase takes too long. */
  check(nowMs: number, times: PhaseTimes): void {
    if (typeof this.phase === 'object') this.phase.check(nowMs, times)
    else if (nowMs - this.sinceMs >= phaseMs(this.phase, times)) this.destroy()
  }

  /**
   * Asks an HTTP/2 client to go elsewhere. HTTP/1.1 has no word for that but the header
   * `Connection` of the next response.
   */
  leave(): void {
    if (typeof this.phase === 'object') this.phase.leave()
  }

  /** Ends the connection as soon as no request is in flight; one without any yet may send it. */
  finish(): void {
    if (typeof this.phase === 'object') this.phase.finish()
    else if (this.phase === 'next request') this.destroy()
  }

  /** Ends the connection; HTTP/2 sends GOAWAY first. */
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
