/**
 * The connections of one server, whatever protocol they carry: how many a client may have, how many
 * there may be in all, and which one makes room for a new one.
 * @module
 */
import { clientNetwork } from '../dns/network.ts'

/** How many connections a server holds. */
export type ConnectionLimits = {
  readonly connectionsMax: number
  /** Connections of one client: of one IPv4 address, or of one IPv6 /64. */
  readonly connectionsPerClientMax: number
  /**
   * Connections of one client without an answered request, and twice as many of all clients; any
   * number when left out. A handshake costs 80 KiB, which an attacker gets for one packet.
   */
  readonly unservedPerClientMax?: number
}

/** A connection, as the table sees it. */
export type Connection = {
  /**
   * Since when the server has been waiting for the client, in milliseconds since 1970; `Infinity`
   * while the server works on a response, when the connection is not dropped.
   */
  readonly idleSinceMs: number
  /** Whether the server has answered a request on it: a connection without one is dropped first. */
  readonly hasServed: boolean
  /** Ends the connection at once. */
  readonly destroy: () => unknown
}

type Client = { readonly network: string; count: number }

/** Whether a connection of a client may be dropped. */
type Choice<T> = (connection: T, client: Client) => boolean

/** Connections by client. */
export class ConnectionTable<T extends Connection> {
  private readonly limits: () => ConnectionLimits
  private readonly connections = new Map<T, Client>()
  private readonly clients = new Map<string, Client>()

  /** @param limits returns the limits at the time of each new connection */
  constructor(limits: () => ConnectionLimits) {
    this.limits = limits
  }

  /** Returns all connections, the oldest first. */
  all(): Iterable<T> {
    return this.connections.keys()
  }

  /**
   * Adds a new connection. When the table is full, drops an idle one for it: one of the same client
   * when that client has its share, else one of the client with the most connections. A client with
   * many connections never takes the place of one with few.
   * @returns false when no connection may be dropped for it: the caller must end the new one
   */
  add(address: string, connection: T): boolean {
    const { connectionsMax, connectionsPerClientMax, unservedPerClientMax } = this.limits()
    const network = clientNetwork(address)
    const client = this.clients.get(network) ?? { network, count: 0 }
    const isOwn: Choice<T> = (_, other) => other === client
    const isOfAny: Choice<T> = (_, other) => other.count >= client.count
    if (unservedPerClientMax !== undefined) {
      if (client.count >= unservedPerClientMax) this.boundUnserved(unservedPerClientMax, isOwn)
      this.boundUnserved(2 * unservedPerClientMax, isOfAny)
    }
    if (client.count >= connectionsPerClientMax && !this.makeRoom(isOwn)) return false
    if (this.connections.size >= connectionsMax && !this.makeRoom(isOfAny)) return false
    client.count++
    this.clients.set(network, client)
    this.connections.set(connection, client)
    return true
  }

  /** Removes a connection that has ended. Does nothing when it is not in the table. */
  remove(connection: T): void {
    const client = this.connections.get(connection)
    if (client === undefined) return
    this.connections.delete(connection)
    client.count--
    if (client.count === 0) this.clients.delete(client.network)
  }

  /** Drops an idle connection without an answered request when there are `max` of them. */
  private boundUnserved(max: number, isChosen: Choice<T>): void {
    if (this.connections.size < max) return
    const isUnserved: Choice<T> = (one, client) => !one.hasServed && isChosen(one, client)
    let count = 0
    for (const [connection, client] of this.connections) if (isUnserved(connection, client)) count++
    if (count >= max) this.makeRoom(isUnserved)
  }

  /** Drops the idle connection of those chosen that goes first. @returns whether there was one */
  private makeRoom(isChosen: Choice<T>): boolean {
    let best: readonly [T, Client] | undefined
    for (const entry of this.connections) {
      const [connection, client] = entry
      if (connection.idleSinceMs === Number.POSITIVE_INFINITY) continue
      if (!isChosen(connection, client)) continue
      if (best === undefined || goesBefore(entry, best)) best = entry
    }
    if (best === undefined) return false
    const [connection] = best
    this.remove(connection)
    connection.destroy()
    return true
  }
}

/** Whether one connection is dropped rather than another. */
function goesBefore(
  [a, client]: readonly [Connection, Client],
  [b, other]: readonly [Connection, Client],
): boolean {
  if (client.count !== other.count) return client.count > other.count
  if (a.hasServed !== b.hasServed) return b.hasServed
  return a.idleSinceMs < b.idleSinceMs
}
