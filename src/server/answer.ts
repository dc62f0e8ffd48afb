/**
 * How a connection has a message answered.
 * @module
 */
import type { Client } from '../chain/client.ts'
import type { AnswerResult } from '../chain/incoming.ts'
import type { ReplyWriter } from '../dns/reply-writer.ts'

/**
 * Answers a message. Returns the size of a response in the writer, or a response in memory of its
 * own. May keep the message and the client only in the second case.
 */
export type Answer = (message: Uint8Array, client: Client, writer: ReplyWriter) => AnswerResult
