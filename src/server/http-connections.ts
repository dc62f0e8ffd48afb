/**
 * The connections of an HTTP server: bounded in number, and each in the time that it may take.
 * @module
 */
import { type ConnectionLimits, ConnectionTable } from './connection-table.ts'
import { type BoundedSocket, type PhaseTimes, ServedSocket } from './served-socket.ts'

/** What is needed of a new socket. */
type Socket = BoundedSocket & { once(event: 'close', listener: () => void): unknown }

/** How often slow connections are looked for, in milliseconds. */
export const CHECK_MS = 1000

/** The connections of one server. */
export class HttpConnections {
  private readonly table: ConnectionTable<ServedSocket>
  private readonly times: () => PhaseTimes
  /** By both ends, as a TLS socket and the TCP socket below it are two objects. */
  private readonly byEnds = new Map<string, ServedSocket>()
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

  /** Takes a new connection, or ends it when there are too many. @returns whether it was taken */
  open(socket: Socket, isSecure: boolean): boolean {
    const { table, byEnds } = this
    const { remoteAddress } = socket
    const ends = endsOf(socket)
    const served = new ServedSocket(socket, isSecure, this.now())
    // A client that is gone already has no address.
    if (remoteAddress === undefined || !table.add(remoteAddress, served)) {
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

  /** Finds the connection of a socket by its ends; `undefined` when it has ended. */
  find(socket: BoundedSocket): ServedSocket | undefined {
    return this.byEnds.get(endsOf(socket))
  }

  /** Ends all connections. */
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

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: BoundedSocket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`
}
