/**
 * How a connection has a message answered.
 * @module
 */

import type { ReplyWriter } from '../../dns/wire/reply-writer.ts'
import type { AnswerResult } from '../../resolver/chain/incoming.ts'
import type { Client } from '../../resolver/contract/client.ts'

/**
 * Answers a message. Returns the size of a response in the writer, or a response in memory of its
 * own. May keep the message and the client only in the second case.
 */
export type Answer = (message: Uint8Array, client: Client, writer: ReplyWriter) => AnswerResult
