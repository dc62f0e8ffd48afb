/**
 * How sockets get responses to messages.
 * @module
 */

import type { ReplyWriter } from '../../dns/wire/reply-writer.ts'
import type { AnswerResult } from '../../resolver/chain/incoming.ts'
import type { Client } from '../../resolver/contract/client.ts'
import type { MaybePromise } from '../../resolver/contract/maybe-promise.ts'

/** How a socket answers. */
export type UdpAnswers = {
  /**
   * Answers a message on the fast path. Returns the size of the response in the writer, 0 if the
   * message must take the slow path, a negative number to drop it. Keeps nothing.
   */
  readonly fast: (message: Uint8Array, client: Client, writer: ReplyWriter) => number
  /** Answers a message, which it may keep with the client. */
  readonly slow: (message: Uint8Array, client: Client) => MaybePromise<Uint8Array | undefined>
}

/**
 * Answers a message. Returns the size of a response in the writer, or a response in memory of its
 * own. May keep the message and the client only in the second case.
 */
export type Answer = (message: Uint8Array, client: Client, writer: ReplyWriter) => AnswerResult
