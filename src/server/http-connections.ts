/**
 * The connections of an HTTP server: bounded in number, and each in the time that it may take.
 * @module
 */
import { type ConnectionLimits, ConnectionTable } from './connection-table.ts'
import {
  type BoundedSocket,
  type PhaseTimes,
  type SelfBounded,
  ServedSocket,
} from './served-socket.ts'

/** How often slow connections are looked for, in milliseconds. */
export const CHECK_MS = 1000

/** The connections of one server. */
export class HttpConnections {
  private readonly table: ConnectionTable<ServedSocket>
  private readonly times: () => PhaseTimes
  /** By both ends, as a TLS socket and the TCP socket below it are two objects. */
  private readonly byEnds = new Map<string, ServedSocket>()
  private readonly bySocket = new WeakMap<object, ServedSocket>()
  private readonly checks: NodeJS.Timeout
  /** Milliseconds since some moment. Nobody sets this clock, so that no step ends a connection. */
  readonly now: () => number

  /** @param times returns how long connections may take at the time of each check */
  constructor(
    limits: ConnectionLimits,
    times: () => PhaseTimes,
    now: () => number = () => performance.now(),
  ) {
    this.table = new ConnectionTable(() => limits)
    this.times = times
    this.now = now
    this.checks = setInterval(() => this.check(), CHECK_MS)
    this.checks.unref()
  }

  /**
   * Takes a new connection, or ends it when there are too many. The caller reports its end to the
   * function that is returned.
   */
  open(socket: BoundedSocket, isSecure: boolean): () => void {
    const { table, byEnds } = this
    const { remoteAddress } = socket
    const ends = endsOf(socket)
    const served = new ServedSocket(socket, isSecure, this.now())
    // A client that is gone already has no address.
    if (remoteAddress === undefined || !table.add(remoteAddress, served)) {
      socket.destroy()
      return () => undefined
    }
    byEnds.set(ends, served)
    return () => {
      table.remove(served)
      if (byEnds.get(ends) === served) byEnds.delete(ends)
    }
  }

  /** Learns that the handshake of a connection is done, and which HTTP/2 it carries, if any. */
  secured(socket: BoundedSocket, http2?: SelfBounded): void {
    this.byEnds.get(endsOf(socket))?.secured(this.now(), http2)
  }

  /** Learns which socket the requests of HTTP/1.1 of a connection come from. */
  bind(socket: BoundedSocket): void {
    const served = this.byEnds.get(endsOf(socket))
    if (served !== undefined) this.bySocket.set(socket, served)
  }

  /** Finds the connection of a request of HTTP/1.1. */
  find(socket: object): ServedSocket | undefined {
    return this.bySocket.get(socket)
  }

  /** Looks after no connection any more. */
  close(): void {
    clearInterval(this.checks)
  }

  private check(): void {
    const nowMs = this.now()
    const times = this.times()
    for (const served of this.table.all()) {
      served.check(nowMs, times)
      this.table.changed(served)
    }
  }
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: BoundedSocket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`
}
