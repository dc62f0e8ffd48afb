/**
 * A plugin's part in the fast path: from the bytes of a query to those of its response without a
 * request, a promise or any other object.
 * @module
 */
import type { Query } from '../../dns/wire/query.ts'
import type { ReplyWriter } from '../../dns/wire/reply-writer.ts'
import type { Client, ClientVisibility } from './client.ts'

/** How to write a response on the fast path. Every query reuses the same object; do not keep it. */
export type FastReplyOptions = {
  isUdp: boolean
  /** What the client may see. */
  visibility: ClientVisibility | undefined
  /** Largest response. */
  bytesMax: number
  /** UDP size to advertise. */
  udpBytes: number
  /** Pads the response to a multiple of this size (RFC 8467); 0 for no padding. */
  paddingBlock: number
  /** Draws the index of the first address, modulo their number; `undefined` for 0. */
  rotation: (() => number) | undefined
  /** Whether to leave out optional records. */
  isMinimal: boolean
  /** Whether all records get the lowest TTL among them, within the bounds below. */
  hasTtlBounds: boolean
  answerTtlMin: number
  answerTtlMax: number
  negativeTtlMin: number
  negativeTtlMax: number
  /** Header bits to set, and to clear. */
  flagsSet: number
  flagsCleared: number
}

/** A plugin's part in the fast path. None of these functions allocates. */
export type FastPathPart = {
  /** Whether a query must take the slow path, because the plugin must see its request. */
  readonly needsSlowPath?: (query: Query, client: Client) => boolean
  /** Sets the options that all responses share; called once, when the chain is compiled. */
  readonly configure?: (options: FastReplyOptions) => void
  /** Sets the options of the response to a query. */
  readonly prepare?: (options: FastReplyOptions, query: Query) => void
  /** Called after each response. */
  readonly answered?: (query: Query) => void
  /** Whether the written response may be sent; otherwise the query takes the slow path. */
  readonly accepts?: (query: Query, client: Client, reply: Uint8Array) => boolean
  /**
   * Writes the response. A part that also has `needsSlowPath` does so only if no later plugin of
   * the chain can: it passes queries outside its zones to that plugin.
   * @returns its size; 0 when the query must take the slow path
   */
  readonly answer?: (query: Query, reply: ReplyWriter, options: FastReplyOptions) => number
}
