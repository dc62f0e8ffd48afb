/**
 * The connections of one server, whatever protocol they carry: how many a client may have, how many
 * there may be in all, and which one makes room for a new one.
 * @module
 */
import { clientNetwork } from '../dns/network.ts'
import { random16 } from './random16.ts'

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

type Client<T> = { readonly network: string; readonly connections: Bag<T> }

/** Whether a connection of a client may be dropped. */
type Choice<T> = (connection: T, client: Client<T>) => boolean

/**
 * Connections looked at to drop one. Of more than that, this many picked at random: a client that
 * has a fifth of 5,000 is missed by less than one pick in a million. To look at all of them for
 * each new connection took longer than to accept it.
 */
const LOOKS_MAX = 64

/** Connections by client. */
export class ConnectionTable<T extends Connection> {
  private readonly limits: () => ConnectionLimits
  private readonly connections = new Bag<T>()
  private readonly clientOf = new Map<T, Client<T>>()
  private readonly clients = new Map<string, Client<T>>()

  /** @param limits returns the limits at the time of each new connection */
  constructor(limits: () => ConnectionLimits) {
    this.limits = limits
  }

  /** Returns all connections, the oldest first. */
  all(): Iterable<T> {
    return this.clientOf.keys()
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
    const client = this.clients.get(network) ?? { network, connections: new Bag<T>() }
    const own = client.connections
    const isAny = (): boolean => true
    const isOfAny: Choice<T> = (_, other) => other.connections.size >= own.size
    if (unservedPerClientMax !== undefined) {
      this.boundUnserved(unservedPerClientMax, own, isAny)
      this.boundUnserved(2 * unservedPerClientMax, this.connections, isOfAny)
    }
    if (own.size >= connectionsPerClientMax && !this.makeRoom(own.members, isAny)) return false
    const all = this.connections
    if (all.size >= connectionsMax && !this.makeRoom(all.members, isOfAny)) return false
    this.clients.set(network, client)
    this.clientOf.set(connection, client)
    all.add(connection)
    own.add(connection)
    return true
  }

  /** Removes a connection that has ended. Does nothing when it is not in the table. */
  remove(connection: T): void {
    const client = this.clientOf.get(connection)
    if (client === undefined) return
    this.clientOf.delete(connection)
    this.connections.delete(connection)
    client.connections.delete(connection)
    if (client.connections.size === 0) this.clients.delete(client.network)
  }

  /** Drops an idle connection without an answered request when a bag has `max` of them. */
  private boundUnserved(max: number, bag: Bag<T>, isChosen: Choice<T>): void {
    if (bag.size < max) return
    const unserved = bag.members.filter((one) => {
      const client = this.clientOf.get(one)
      return client !== undefined && !one.hasServed && isChosen(one, client)
    })
    if (unserved.length >= max) this.makeRoom(unserved, isChosen)
  }

  /** Drops the idle connection of those chosen that goes first. @returns whether there was one */
  private makeRoom(connections: readonly T[], isChosen: Choice<T>): boolean {
    let best: readonly [T, Client<T>] | undefined
    for (const connection of someOf(connections, LOOKS_MAX)) {
      const client = this.clientOf.get(connection)
      if (client === undefined || connection.idleSinceMs === Number.POSITIVE_INFINITY) continue
      if (!isChosen(connection, client)) continue
      const entry = [connection, client] as const
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
  [a, { connections }]: readonly [Connection, Client<Connection>],
  [b, { connections: others }]: readonly [Connection, Client<Connection>],
): boolean {
  if (connections.size !== others.size) return connections.size > others.size
  if (a.hasServed !== b.hasServed) return b.hasServed
  return a.idleSinceMs < b.idleSinceMs
}

/** Returns all, or as many as there may be, picked at random: one may come twice. */
function someOf<T>(all: readonly T[], max: number): readonly T[] {
  if (all.length <= max) return all
  return Array.from({ length: max }).flatMap(() => all[random16() % all.length] ?? [])
}

/** Members in any order, of which one can be picked by its place. */
class Bag<T> {
  private readonly list: T[] = []
  private readonly places = new Map<T, number>()

  get size(): number {
    return this.list.length
  }

  get members(): readonly T[] {
    return this.list
  }

  add(member: T): void {
    this.places.set(member, this.list.length)
    this.list.push(member)
  }

  /** Removes a member; the last one takes its place. */
  delete(member: T): void {
    const place = this.places.get(member)
    if (place === undefined) return
    this.places.delete(member)
    const last = this.list.pop()
    if (last === undefined || last === member) return
    this.list[place] = last
    this.places.set(last, place)
  }
}
