/**
 * Bounds the connections of one server, per client and in all, and chooses which one to drop for a
 * new one.
 * @module
 */
import { clientNetwork } from '../../dns/names/network.ts'
import { fileLimit } from '../node/file-limit.ts'
import { Heap } from './heap.ts'

/** The part of the process's open files that the connections of one server may be. */
const FILES_SHARE = 4

/** How many connections a server accepts. */
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
   * Since when the server has been waiting for the client, in milliseconds of a monotonic clock;
   * `Infinity` while the server works on a response. The table never drops such a connection.
   */
  readonly idleSinceMs: number
  /** Whether the server has answered a request on it. Connections without one are dropped first. */
  readonly hasServed: boolean
  /** Ends the connection at once. */
  readonly destroy: () => unknown
}

/** A connection, and its state as last read: by now it may be busy, or idle for less time. */
type Entry<T> = {
  readonly connection: T
  readonly client: Client<T>
  idleSinceMs: number
  hasServed: boolean
}

/** The connections of one client, in the order in which they are dropped. */
type Client<T> = {
  readonly network: string
  readonly entries: Heap<Entry<T>>
  unserved: number
}

/**
 * Connections by client. Each change takes O(log n): the table reads the state of a connection only
 * when its owner calls `changed`, and before the table drops it.
 */
export class ConnectionTable<T extends Connection> {
  private readonly limits: () => ConnectionLimits
  private readonly entries = new Map<T, Entry<T>>()
  private readonly clients = new Map<string, Client<T>>()
  private readonly byIdle = new Heap(clientOrder<T>(isIdle))
  private readonly byUnserved = new Heap(clientOrder<T>(isUnserved))
  private unserved = 0
  private readonly share: number

  /**
   * @param limits returns the limits at the time of each new connection
   * @param filesMax open files of the process: the table takes at most a quarter of them, so that
   * upstreams and files have some too
   */
  constructor(limits: () => ConnectionLimits, filesMax: number = fileLimit()) {
    this.limits = limits
    this.share = Math.floor(filesMax / FILES_SHARE)
  }

  /** Returns all connections, the oldest first. */
  all(): Iterable<T> {
    return this.entries.keys()
  }

  /**
   * Adds a new connection. If the client is at its limit, drops an idle connection of that client;
   * if the table is full, drops an idle one of the client with the most connections. A client never
   * displaces one that has fewer connections.
   * @returns false when no connection may be dropped: the caller must close the new one
   */
  add(address: string, connection: T): boolean {
    const { connectionsMax, connectionsPerClientMax, unservedPerClientMax } = this.limits()
    const network = clientNetwork(address)
    const client = this.clients.get(network) ?? createClient<T>(network)
    const own = client.entries
    const ownFirst = () => own.first
    const firstOf = (clients: Heap<Client<T>>) => () =>
      (clients.first?.entries.size ?? 0) < own.size ? undefined : clients.first?.entries.first
    if (unservedPerClientMax !== undefined) {
      const max = unservedPerClientMax
      this.makeRoom(() => client.unserved >= max, ownFirst, isUnserved)
      this.makeRoom(() => this.unserved >= 2 * max, firstOf(this.byUnserved), isUnserved)
    }
    const isOwnFull = () => own.size >= connectionsPerClientMax
    if (!this.makeRoom(isOwnFull, ownFirst, isIdle)) return false
    const isFull = () => this.entries.size >= Math.min(connectionsMax, this.share)
    if (!this.makeRoom(isFull, firstOf(this.byIdle), isIdle)) return false
    this.insert(client, connection)
    return true
  }

  /** Removes a closed connection. Does nothing when it is not in the table. */
  remove(connection: T): void {
    const entry = this.entries.get(connection)
    if (entry === undefined) return
    const { client } = entry
    this.entries.delete(connection)
    if (!entry.hasServed) this.countUnserved(client, -1)
    client.entries.delete(entry)
    if (client.entries.size > 0) this.clientChanged(client)
    else {
      this.clients.delete(client.network)
      this.byIdle.delete(client)
      this.byUnserved.delete(client)
    }
  }

  /**
   * Updates the state of a connection. Call it when the server has finished its work for the
   * connection or has answered its first request; the table rereads other changes before it drops
   * a connection. Does nothing when the connection is not in the table.
   */
  changed(connection: T): void {
    const entry = this.entries.get(connection)
    if (entry === undefined) return
    const { idleSinceMs, hasServed } = connection
    if (hasServed !== entry.hasServed || idleSinceMs < entry.idleSinceMs) this.readAgain(entry)
  }

  private insert(client: Client<T>, connection: T): void {
    const { idleSinceMs, hasServed } = connection
    const entry = { connection, client, idleSinceMs, hasServed }
    this.entries.set(connection, entry)
    if (!hasServed) this.countUnserved(client, 1)
    client.entries.add(entry)
    if (client.entries.size > 1) this.clientChanged(client)
    else {
      this.clients.set(client.network, client)
      this.byIdle.add(client)
      this.byUnserved.add(client)
    }
  }

  /** Drops connections until `isFull` is false. @returns false when it ran out of candidates */
  private makeRoom(
    isFull: () => boolean,
    first: () => Entry<T> | undefined,
    mayDrop: (state: State) => boolean,
  ): boolean {
    while (isFull()) {
      const entry = first()
      if (entry === undefined || !mayDrop(entry)) return false
      if (this.readAgain(entry)) continue
      this.remove(entry.connection)
      entry.connection.destroy()
    }
    return true
  }

  /** Reads the state of a connection. @returns whether it has changed */
  private readAgain(entry: Entry<T>): boolean {
    const { idleSinceMs, hasServed } = entry.connection
    if (idleSinceMs === entry.idleSinceMs && hasServed === entry.hasServed) return false
    const { client } = entry
    if (hasServed !== entry.hasServed) this.countUnserved(client, hasServed ? -1 : 1)
    entry.idleSinceMs = idleSinceMs
    entry.hasServed = hasServed
    client.entries.changed(entry)
    this.clientChanged(client)
    return true
  }

  private countUnserved(client: Client<T>, change: 1 | -1): void {
    client.unserved += change
    this.unserved += change
  }

  private clientChanged(client: Client<T>): void {
    this.byIdle.changed(client)
    this.byUnserved.changed(client)
  }
}

type State = Pick<Connection, 'idleSinceMs' | 'hasServed'>

function createClient<T>(network: string): Client<T> {
  return { network, entries: new Heap<Entry<T>>(goesBefore), unserved: 0 }
}

function isIdle({ idleSinceMs }: State): boolean {
  return idleSinceMs < Number.POSITIVE_INFINITY
}

function isUnserved(state: State): boolean {
  return isIdle(state) && !state.hasServed
}

/** Returns whether connection `a` of a client is dropped before `b`. */
function goesBefore(a: State, b: State): boolean {
  if (isIdle(a) !== isIdle(b)) return isIdle(a)
  if (a.hasServed !== b.hasServed) return b.hasServed
  return a.idleSinceMs < b.idleSinceMs
}

/** Orders clients: first those with a connection that may be dropped, then by their number. */
function clientOrder<T>(mayDrop: (state: State) => boolean) {
  return ({ entries: a }: Client<T>, { entries: b }: Client<T>): boolean => {
    if (a.first === undefined || b.first === undefined) return b.size < a.size
    if (mayDrop(a.first) !== mayDrop(b.first)) return mayDrop(a.first)
    return a.size === b.size ? goesBefore(a.first, b.first) : a.size > b.size
  }
}
