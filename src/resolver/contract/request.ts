/**
 * A query on its way through a chain of plugins.
 * @module
 */
import type { Query } from '../../dns/wire/query.ts'
import type { Client } from './client.ts'
import type { Fact } from './fact.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { MessageSigner } from './message-signer.ts'
import type { Outcome } from './outcome.ts'

/** Bounds of a response. Plugins may tighten them, to 512 bytes at least. */
export type RequestLimits = {
  /** Largest response over UDP. */
  udpBytes: number
  /** UDP size in the OPT record of the response. */
  advertisedBytes: number
  /** Signs every message of the response. */
  signer?: MessageSigner
}

/** The path of a request through the chain. Requests derived from a request share its trace. */
export type Trace = {
  /** The plugin that the request reached last. */
  plugin: string
  /** Records how long each plugin takes; absent for most requests. */
  spans?: Spans
}

/** A plugin that a request reaches, as far as traces and explanations need it. */
export type Explainer = {
  readonly name: string
  /**
   * Explains the plugin's response to a client. For a hidden name, returns the same as for a name
   * that does not exist.
   */
  readonly explain?: (query: Query, client: Client) => MaybePromise<readonly Fact[]>
}

/** Records which plugins a request passes, and how long each takes. */
export type Spans = {
  /** The trace identifier, in hexadecimal digits. */
  readonly traceId: string
  /** Starts the span of a plugin. @returns a function that ends it, without outcome if it threw */
  readonly begin: (plugin: Explainer, request: ClientQuery) => (outcome?: Outcome) => void
}

/** A query with its client: the part of a request that observers also get. */
export type ClientQuery = {
  readonly query: Query
  readonly client: Client
  /** Absent on the fast path. */
  readonly trace?: Trace
}

/** A query on its way through a chain. */
export type Request = {
  /** The query; owned by this request. */
  readonly query: Query
  /** The client's query, if a plugin derived this request from it. */
  readonly originalQuery?: Query
  /** The query name with its letter case. */
  readonly name: Uint8Array
  readonly lowerName: Uint8Array
  readonly type: number
  readonly class: number
  readonly client: Client
  /** When the client's query arrived, by `Host.awake`. */
  readonly sinceMs: number
  readonly limits: RequestLimits
  /** Codes of EDNS options that this server added; `forward` sends even hop-by-hop ones. */
  readonly ownOptions?: ReadonlySet<number>
  readonly trace: Trace
  /** Whether the server itself looks the name up, for a client's request or for a plugin. */
  readonly isLookup?: boolean
  /** Resolves another name through the whole server on behalf of this request. */
  readonly lookup: (name: Uint8Array, type: number) => MaybePromise<Outcome>
}

/** The rest of a chain. */
export type Next = (request: Request) => MaybePromise<Outcome>
