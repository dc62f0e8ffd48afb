/**
 * A pool of connections to one upstream (github.com/coredns/coredns,
 * plugin/pkg/proxy/persistent.go).
 * @module
 */
import type { Socket } from 'node:net'
import { type ExchangeOptions, OverloadError } from '../../resolver/contract/host.ts'
import { ConnectionLostError, StreamConnection } from './stream-connection.ts'

/** Maximum number of connections to one upstream; beyond it, queries share them. */
const CONNECTIONS_MAX = 64
/** Maximum number of pending queries on one connection. */
const PENDING_MAX = 64

/** Options of a pool. */
export type PoolOptions = {
  /** How long an idle connection stays open. */
  readonly expireMs: number
  /** Maximum age of a connection, 0 for no limit. */
  readonly ageMsMax: number
  /** Maximum number of idle connections, 0 for no limit. */
  readonly idleMax: number
  /** Called for each query with whether it reused a connection. */
  readonly onConnection: (isReused: boolean) => void
  /** Milliseconds of a monotonic clock; the process's if absent. */
  readonly now?: () => number
}

/** Options of a query. */
export type QueryOptions = Omit<ExchangeOptions, 'protocol'>

/** Opens connections on demand. */
export class ConnectionPool {
  private readonly open: () => Socket
  private readonly options: PoolOptions
  private readonly now: () => number
  /** Idle connections, the longest idle first. */
  private connections: StreamConnection[] = []
  private isClosed = false

  /** @param open starts a connection */
  constructor(open: () => Socket, options: PoolOptions) {
    this.open = open
    this.options = options
    this.now = options.now ?? (() => performance.now())
  }

  /**
   * Sends a query and resolves with its response. Retries on a new connection if the upstream has
   * closed a reused one. The signal ends the query early.
   * @throws {Error} with the reason
   */
  async ask(query: Uint8Array, options: QueryOptions): Promise<Uint8Array> {
    const { timeoutMs, signal, connectionAgeMsMax = Number.POSITIVE_INFINITY } = options
    const startMs = this.now()
    const kept = this.kept(connectionAgeMsMax)
    if (kept !== undefined) {
      this.options.onConnection(true)
      try {
        return await this.use(kept).ask(query, timeoutMs, signal)
      } catch (error) {
        if (!(error instanceof ConnectionLostError) || !kept.hasAnswered) throw error
      }
    }
    const leftMs = timeoutMs - (this.now() - startMs)
    if (leftMs <= 0) throw new Error('no response over TCP in time')
    this.options.onConnection(false)
    return this.use(this.connect()).ask(query, leftMs, signal)
  }

  /** Closes all connections: now, or after their last pending response. */
  close(): void {
    this.isClosed = true
    for (const connection of this.connections) if (!isBusy(connection)) connection.end()
  }

  /** Marks a connection as the most recently used one. */
  private use(connection: StreamConnection): StreamConnection {
    this.connections = this.connections.filter((one) => one !== connection)
    this.connections.push(connection)
    return connection
  }

  /**
   * Returns an idle connection up to an age, `undefined` if a new one is needed; at the maximum,
   * the one with the fewest queries.
   */
  private kept(ageMsMax: number): StreamConnection | undefined {
    const aged = this.connections.filter((one) => one.isOpen && this.isAged(one))
    for (const connection of aged) if (!isBusy(connection)) connection.end()
    this.connections = this.connections.filter((one) => one.isOpen && !this.isAged(one))
    const idle = this.connections.filter((one) => !isBusy(one))
    const young = idle.find(({ openedMs }) => this.now() - openedMs <= ageMsMax)
    if (young !== undefined || this.connections.length < CONNECTIONS_MAX) return young
    const [oldest] = idle
    if (oldest !== undefined) {
      oldest.end()
      return undefined
    }
    const least = this.connections.reduce((a, b) => (a.pendingCount <= b.pendingCount ? a : b))
    if (least.pendingCount >= PENDING_MAX) throw new OverloadError()
    return least
  }

  private connect(): StreamConnection {
    const connection = new StreamConnection(this.open(), {
      now: this.now,
      expireMs: this.options.expireMs,
      onIdle: () => this.rest(connection),
      onTimeout: (sentMs) => this.leaveSilent(sentMs),
    })
    return connection
  }

  /**
   * Uses no connection again that has been silent since a query was sent that got no response: when
   * a node is lost, all connections to it go silent at once, and TCP notices after minutes only.
   */
  private leaveSilent(sentMs: number): void {
    for (const one of this.connections) if (one.aliveMs <= sentMs) one.retire()
  }

  /** Keeps an idle connection, or closes it. */
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
