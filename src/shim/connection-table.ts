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
   * when that client has its share, else one of the client with the most connections.
   * @returns false when no connection may be dropped for it: the caller must end the new one
   */
  add(address: string, connection: T): boolean {
    const { connectionsMax, connectionsPerClientMax } = this.limits()
    const network = clientNetwork(address)
    const known = this.clients.get(network)
    const count = known?.count ?? 0
    if (count >= connectionsPerClientMax && !this.makeRoom(count, known)) return false
    if (this.connections.size >= connectionsMax && !this.makeRoom(count)) return false
    const client = this.clients.get(network) ?? { network, count: 0 }
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

  /**
   * Drops one idle connection: of `only`, or of any client with at least `countMin` connections, so
   * that a client with many connections never takes the place of one with few.
   */
  private makeRoom(countMin: number, only?: Client): boolean {
    let best: readonly [T, Client] | undefined
    for (const entry of this.connections) {
      const [connection, client] = entry
      const isCandidate = only === undefined ? client.count >= countMin : client === only
      if (!isCandidate || connection.idleSinceMs === Number.POSITIVE_INFINITY) continue
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
