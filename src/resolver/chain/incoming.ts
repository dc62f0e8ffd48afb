/**
 * A message between its transport and the resolver, parsed once for both.
 * @module
 */
import { EMPTY } from '../../dns/bytes/bytes.ts'
import { bytesOfSlab } from '../../dns/bytes/slab.ts'
import { parseQuery, Query, type Refusal } from '../../dns/wire/query.ts'
import type { ReplyWriter } from '../../dns/wire/reply-writer.ts'
import type { Client } from '../contract/client.ts'
import type { MaybePromise } from '../contract/maybe-promise.ts'

/**
 * The size of a response in the transport's writer, valid until the transport uses that writer
 * again; or a response in memory of its own. `undefined` for no response.
 */
export type AnswerResult = number | MaybePromise<Uint8Array | undefined>

const NO_CLIENT: Client = { address: '', port: 0, transport: 'udp' }

/** Holds one message at a time; a transport creates one and reuses it for every message. */
export class Incoming {
  /** The parse of the message, as far as it got. */
  query: Query = new Query()
  /** The same query, or the reason to refuse the message. */
  parsed: Query | Refusal = parseQuery(EMPTY, this.query)
  client: Client = NO_CLIENT
  /** How long the message has waited for the resolver; the transport sets it after `read`. */
  waitedMs = 0

  /** Parses a message, whose bytes must not change afterwards. Returns itself. */
  read(message: Uint8Array, client: Client): this {
    this.parsed = parseQuery(message, this.query)
    this.client = client
    this.waitedMs = 0
    return this
  }

  /** Hands over the query: the next message is parsed into a new one. */
  takeQuery(): Query {
    const { query } = this
    this.query = new Query()
    return query
  }
}

/**
 * Returns a response in memory of its own, for transports that keep the bytes after this turn. A
 * client that never reads its response keeps a slab of 4 KiB alive.
 */
export function ownResponse(
  result: AnswerResult,
  { bytes }: ReplyWriter,
): MaybePromise<Uint8Array | undefined> {
  if (typeof result !== 'number') return result
  const own = bytesOfSlab(result)
  own.set(bytes.subarray(0, result))
  return own
}
