/**
 * The contract of a plugin: it gets a request and the rest of the chain, and returns an outcome.
 * @module
 */
import type { ResourceRecord } from '../../dns/wire/message.ts'
import type { Query } from '../../dns/wire/query.ts'
import type { Client, ClientVisibility } from './client.ts'
import type { FastPathPart } from './fast-path-part.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { MessageSigner } from './message-signer.ts'
import type { Observation, UpstreamExchange } from './observation.ts'
import type { Outcome } from './outcome.ts'
import type { ClientQuery, Explainer, Next, Request } from './request.ts'

/** The verdict on a message's signature. */
export type SignatureVerdict = {
  /** The code to refuse the message with; `undefined` to accept it. */
  readonly rcode: number | undefined
  /** Signs the response; `undefined` for an unsigned response. */
  readonly signer: MessageSigner | undefined
}

/** A plugin, set up for one server block. */
export type Plugin = Explainer & {
  /** Answers a request, or passes it to the rest of the chain. Absent: the plugin never answers. */
  readonly serve?: (request: Request, next: Next) => MaybePromise<Outcome>
  /** Without one, a plugin with `serve` ends the fast path of its block. */
  readonly fastPath?: FastPathPart
  /** Observes every query that the block answered. Must not keep the observation. */
  readonly observe?: (observation: Observation) => void
  /** Observes queries to upstreams. Must not keep the exchange. */
  readonly observeUpstream?: (exchange: UpstreamExchange) => void
  /**
   * Whether a zone of the plugin hides a query name, and with it the whole zone of its server
   * block, from a client.
   */
  readonly hides?: (visibility: ClientVisibility, query: Query, blockZone: Uint8Array) => boolean
  /** Whether the plugin forwards queries for names outside the client's own origins. */
  readonly relays?: (visibility: ClientVisibility) => boolean
  /** Whether the block takes a query; if not, the next block with the same zone is tried. */
  readonly admits?: (query: Query, client: Client) => boolean
  /**
   * The client's search list (resolv.conf(5)), if the query name ends in its first name: absolute
   * names, the root last. `undefined` for unknown clients. Called for every query, also on the fast
   * path.
   */
  readonly searchPath?: (query: Query, client: Client) => readonly Uint8Array[] | undefined
  /**
   * Returns the records of a zone for a transfer, with the SOA record first and last; the SOA
   * record alone if `serial` is current (RFC 1995 §4); `undefined` for a zone of no plugin.
   */
  readonly transfer?: (
    zone: Uint8Array,
    serial: number | undefined,
  ) => MaybePromise<Iterable<ResourceRecord> | undefined>
  /** Called when another plugin of the block has loaded a zone; absolute and in lower case. */
  readonly zoneChanged?: (zone: Uint8Array) => void
  /** Verifies the signature of a message that does not pass the chain, such as a NOTIFY. */
  readonly verify?: (query: Query) => SignatureVerdict
  /**
   * Handles a NOTIFY (RFC 1996). Returns `undefined` for a zone of another plugin, and `ignored`,
   * which means no response, for a sender that is not a primary of the zone.
   */
  readonly handleNotify?: (query: Query, client: Client) => 'taken' | 'ignored' | undefined
  /** Returns the plugin's metadata for a query, by CoreDNS's labels. */
  readonly metadata?: (label: string, clientQuery: ClientQuery) => string | undefined
  /**
   * Reads what the plugin answers from; awaited once, before the chain is used. May take seconds,
   * during which another chain answers: never blocks the event loop.
   * @throws {ConfigError} with the mistakes, which keep the chain from being used
   */
  readonly prepare?: () => Promise<void>
  /** Starts background work; called when the server is listening. */
  readonly start?: () => void
  /**
   * Ends background work; the plugin is not used after that. May return a promise of the end, which
   * only a process that ends waits for.
   */
  readonly stop?: () => MaybePromise<void>
  /** Whether the plugin can answer, for `ready`. Absent: always. */
  readonly isReady?: () => boolean
}
