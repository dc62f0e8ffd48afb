/**
 * The client that sent a query, and what it may see.
 * @module
 */
import type { Query } from '../../dns/wire/query.ts'
import type { Visibility } from '../../snapshot/read/visibility.ts'

/** A client, and the connection that its query came over. */
export type Client = {
  readonly address: string
  readonly port: number
  readonly transport: 'udp' | 'tcp' | 'tls' | 'https' | 'grpc'
  /**
   * The server's own address and port, where the runtime knows them. The address is `::` for UDP on
   * a wildcard socket, as in CoreDNS.
   */
  readonly localAddress?: string | undefined
  readonly localPort?: number | undefined
  /** What the client may see; absent for everything. */
  readonly visibility?: ClientVisibility
  /** Largest response without EDNS that the client accepts; absent when unknown. */
  readonly bytesMax?: number
  /**
   * Sends a message before the last one of a zone transfer (RFC 5936 §2.2) and resolves when there
   * is room for the next. Absent where a query gets one response only.
   */
  readonly sendAhead?: (message: Uint8Array) => Promise<void>
}

/** The client's port, and the server's own end of the connection. */
export type ConnectionEnds = Pick<Client, 'port' | 'localAddress' | 'localPort'>

/** What a client may see. A hidden name gets the same response as a name that does not exist. */
export type ClientVisibility = {
  /** Equal for clients that see the same. A part of cache keys. */
  readonly id: string
  /** Whether the client sees a cluster below an origin, which is absolute and in lower case. */
  readonly seesOrigin: (cluster: string | undefined, origin: Uint8Array) => boolean
  /** Whether one of the client's own origins is at or above the query name. */
  readonly seesName: (query: Query) => boolean
  /** The namespaces that the client sees; `undefined` for all. */
  readonly namespaces: Visibility | undefined
  /** Whether the server forwards queries for the client. */
  readonly mayRecurse: boolean
}
