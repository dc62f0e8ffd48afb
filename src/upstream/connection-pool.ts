/**
 * The connections to one upstream, kept between queries (github.com/coredns/coredns,
 * plugin/pkg/proxy/persistent.go).
 * @module
 */
import type { Socket } from 'node:net'
import { OverloadError } from '../chain/host.ts'
import { ConnectionLostError, StreamConnection } from './stream-connection.ts'

/** Connections to one upstream; with as many, queries share them. */
const CONNECTIONS_MAX = 64
/** Queries under way on one connection. */
const PENDING_MAX = 64

/** How connections are kept. */
export type PoolOptions = {
  /** How long one is kept that nobody uses. */
  readonly expireMs: number
  /** How long one is kept at all, 0 for as long as it is used. */
  readonly ageMsMax: number
  /** How many to keep that nobody uses, 0 for any number. */
  readonly idleMax: number
  /** Learns of each query whether a connection was there for it. */
  readonly onConnection: (isReused: boolean) => void
  /** Milliseconds of a clock that does not go back; the process's when left out. */
  readonly now?: () => number
}

/** Connections that are opened as they are needed. */
export class ConnectionPool {
  private readonly open: () => Socket
  private readonly options: PoolOptions
  private readonly now: () => number
  /** Those that were not used for the longest time first. */
  private connections: StreamConnection[] = []
  private isClosed = false

  /** @param open begins a connection */
  constructor(open: () => Socket, options: PoolOptions) {
    this.open = open
    this.options = options
    this.now = options.now ?? (() => performance.now())
  }

  /**
   * Sends a query and resolves with its answer. When a connection that was kept turns out to be
   * closed, another is made.
   * @throws {Error} that says what went wrong
   */
  async ask(query: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    const startMs = this.now()
    const kept = this.kept()
    if (kept !== undefined) {
      this.options.onConnection(true)
      try {
        return await this.askBy(kept, query, timeoutMs)
      } catch (error) {
        if (!(error instanceof ConnectionLostError) || !kept.hasAnswered) throw error
      }
    }
    const leftMs = timeoutMs - (this.now() - startMs)
    if (leftMs <= 0) throw new Error('no answer over TCP in time')
    this.options.onConnection(false)
    return this.askBy(this.connect(), query, leftMs)
  }

  /** Ends all connections: at once, or when the last query under way on them is answered. */
  close(): void {
    this.isClosed = true
    for (const connection of this.connections) if (!isBusy(connection)) connection.end()
  }

  private askBy(
    connection: StreamConnection,
    query: Uint8Array,
    timeoutMs: number,
  ): Promise<Uint8Array> {
    this.connections = this.connections.filter((one) => one !== connection)
    this.connections.push(connection)
    return connection.ask(query, timeoutMs)
  }

  /** A connection that nobody uses; if there can be no more, the one that is used least. */
  private kept(): StreamConnection | undefined {
    const aged = this.connections.filter((one) => one.isOpen && this.isAged(one))
    for (const connection of aged) if (!isBusy(connection)) connection.end()
    this.connections = this.connections.filter((one) => one.isOpen && !this.isAged(one))
    const idle = this.connections.find((one) => !isBusy(one))
    if (idle !== undefined || this.connections.length < CONNECTIONS_MAX) return idle
    const least = this.connections.reduce((a, b) => (a.pendingCount <= b.pendingCount ? a : b))
    if (least.pendingCount >= PENDING_MAX) throw new OverloadError()
    return least
  }

  private connect(): StreamConnection {
    const connection = new StreamConnection(this.open(), {
      openedMs: this.now(),
      expireMs: this.options.expireMs,
      onIdle: () => this.rest(connection),
    })
    return connection
  }

  /** Keeps a connection that nobody uses any more, or ends it. */
  private rest(connection: StreamConnection): void {
    const { idleMax } = this.options
    const idleCount = this.connections.filter((one) => one.isOpen && !isBusy(one)).length
    const isSurplus = idleMax > 0 && idleCount > idleMax
    if (this.isClosed || isSurplus || this.isAged(connection)) connection.end()
  }

  private isAged({ openedMs }: StreamConnection): boolean {
    const { ageMsMax } = this.options
    return ageMsMax > 0 && this.now() - openedMs >= ageMsMax
  }
}

function isBusy({ pendingCount }: StreamConnection): boolean {
  return pendingCount > 0
}
