/**
 * Features: what a server block needs from its runtime besides responses, such as an HTTP endpoint
 * for health checks.
 * @module
 */

/** Bounds of clients' connections; the runtime has defaults for absent ones. */
export type ConnectionBounds = {
  /** Time until the first message is complete, in milliseconds. */
  readonly readMs?: number
  /** Time until the client has taken what was written. */
  readonly writeMs?: number
  /** Time until each further message is complete. */
  readonly idleMs?: number
  /** Messages on one connection; Infinity for no bound. */
  readonly queriesMax?: number
}

/** Whether `ready` checks a plugin again after it was ready once. */
export type ReadyMonitor = 'until-ready' | 'continuously'

/** Which certificate a server demands of its clients, in CoreDNS's words. */
export type ClientAuth = 'nocert' | 'request' | 'require' | 'verify_if_given' | 'require_and_verify'

/** TLS of a server; certificates and keys as PEM text. */
export type TlsService = {
  readonly cert: string
  readonly key: string
  /** Certificate authorities of clients; the system's when absent. */
  readonly ca?: string
  readonly clientAuth: ClientAuth
}

/**
 * What becomes of a peer's PROXY header: `use` takes the client from it, `require` also closes
 * connections without one, `ignore` drops it, `reject` closes the connection or drops the datagram,
 * `skip` reads it as part of the query.
 */
export type ProxyPolicy = 'use' | 'require' | 'ignore' | 'reject' | 'skip'

/** From whom PROXY headers count. */
export type ProxyHeaders = {
  /** Returns the policy for a peer's address. */
  readonly policyOf: (address: string) => ProxyPolicy
  /** How long a datagram's header counts for later ones of its peer without any; 0 for not. */
  readonly sessionMs: number
  /** Peers whose header is remembered so. */
  readonly sessionsMax: number
}

/** A feature, by the plugin that configures it. */
export type Feature =
  | { readonly kind: 'health'; readonly address: string; readonly lameduckMs: number }
  | { readonly kind: 'ready'; readonly address: string; readonly monitor: ReadyMonitor }
  | { readonly kind: 'metrics'; readonly address: string }
  | {
      readonly kind: 'tls'
      readonly service: TlsService
      /** Reads the files of the service again. @throws {ConfigError} when one is unreadable */
      readonly reread: () => TlsService
    }
  | { readonly kind: 'https'; readonly connectionsMax: number }
  | { readonly kind: 'proxyproto'; readonly headers: ProxyHeaders }
  | {
      readonly kind: 'grpc'
      /** Fields of the listener; the runtime's bounds hold where absent. */
      readonly limits: { readonly httpConnectionsMax?: number; readonly streamsMax?: number }
    }
  | { readonly kind: 'reload'; readonly intervalMs: number; readonly jitterMs: number }
  | { readonly kind: 'timeouts'; readonly bounds: ConnectionBounds }
  | {
      readonly kind: 'bind'
      /** Addresses or names of interfaces. */
      readonly addresses: readonly string[]
      readonly except: readonly string[]
    }
