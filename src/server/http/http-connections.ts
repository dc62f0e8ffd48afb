/**
 * Bounds the connections of an HTTP server: their number, and how long each may take.
 * @module
 */
import { type ConnectionLimits, ConnectionTable } from '../sockets/connection-table.ts'
import { type BoundedSocket, type PhaseTimes, ServedSocket } from './served-socket.ts'

/** The part of a new socket that this module uses. */
type Socket = BoundedSocket & { once(event: 'close', listener: () => void): unknown }

/** Interval of the checks for slow connections, in milliseconds. */
export const CHECK_MS = 1000

/** The connections of one server. */
export class HttpConnections {
  private readonly table: ConnectionTable<ServedSocket>
  private readonly times: () => PhaseTimes
  /** By both ends, because a TLS socket and its TCP socket are two objects. */
  private readonly byEnds = new Map<string, ServedSocket>()
  private readonly checks: NodeJS.Timeout
  /** Milliseconds of a monotonic clock: setting the system's clock must not end connections. */
  readonly now: () => number

  /** @param times returns how long each phase may take; called at each check */
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
   * Adds a new connection, or closes it when there are too many.
   * @param key the client that limits count it for (default: that of its address)
   * @returns whether it was added
   */
  open(socket: Socket, isSecure: boolean, key: string = socket.remoteAddress ?? ''): boolean {
    const { table, byEnds } = this
    const { remoteAddress } = socket
    const ends = endsOf(socket)
    const served = new ServedSocket(socket, isSecure, this.now())
    // A socket whose client has already disconnected has no address.
    if (remoteAddress === undefined || !table.add(key, served)) {
      socket.destroy()
      return false
    }
    byEnds.set(ends, served)
    socket.once('close', () => {
      table.remove(served)
      if (byEnds.get(ends) === served) byEnds.delete(ends)
    })
    return true
  }

  /** Returns the connection of a socket; `undefined` after it has closed. */
  find(socket: BoundedSocket): ServedSocket | undefined {
    return this.byEnds.get(endsOf(socket))
  }

  /** Asks clients to send their further requests over other connections, as far as HTTP can. */
  leave(): void {
    for (const served of this.table.all()) served.leave()
  }

  /** Closes the connections without a request in flight. */
  finish(): void {
    for (const served of this.table.all()) served.finish()
  }

  /** Closes all connections. */
  close(): void {
    clearInterval(this.checks)
    for (const served of this.table.all()) served.close()
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

function endsOf(socket: BoundedSocket): string {
  const { remoteAddress, remotePort, remoteFamily, localAddress, localPort } = socket
  return `${remoteAddress} ${remotePort} ${remoteFamily} ${localAddress} ${localPort}`
}
