/**
 * Observations for plugins that only observe: `log`, `dnstap`, `prometheus`.
 * @module
 */
import type { ClientQuery } from './request.ts'

/** A query and its response. */
export type Observation = ClientQuery & {
  /** The response is the first `replyBytes` bytes; 0 for no response. */
  readonly reply: Uint8Array
  readonly replyBytes: number
  /** The last plugin in the chain that the query reached. */
  readonly plugin: string
  readonly durationMs: number
}

/** A query to an upstream on behalf of a client. */
export type UpstreamExchange = {
  readonly clientQuery: ClientQuery
  readonly address: string
  readonly port: number
  readonly isUdp: boolean
  readonly query: Uint8Array
  /** `undefined` when the upstream did not respond. */
  readonly reply: Uint8Array | undefined
  /** When the query was sent, in milliseconds since 1970. */
  readonly startMs: number
}
