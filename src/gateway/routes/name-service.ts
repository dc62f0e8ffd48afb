/**
 * Queries of other programs without HTTP: of Workers, by a service binding. They take the path of
 * all messages, and see the namespaces of a scope of their own.
 * @module
 */
import type { Client } from '../../resolver/contract/client.ts'
import { visibilityOf } from '../access/token.ts'
import type { TokenScope } from '../config/token-scope.ts'
import { noAnswer } from '../doh/direct-message.ts'
import { describeReply, type JsonReply } from '../doh/json-reply.ts'
import { type NameQuery, readNameQuery } from '../doh/name-resolver.ts'
import type { KeepAlive } from '../timing/follower.ts'
import type { Gateway } from './gateway.ts'

/** The key of the rate limit that all such callers share. */
const RATE_KEY = 'service binding'
const CLOSED =
  'The gateway answers no service binding: set SERVICE_SCOPE to the namespaces that other ' +
  'Workers may query, or to "*"'
/** `acl` and `view` see a caller at this address. */
const CALLER: Client = { address: '127.0.0.1', port: 0, transport: 'https' }
/** A caller has no URL by which a client could discover the gateway. */
const HEAD = { path: '', header: () => undefined }

/**
 * Creates the function that answers such queries.
 * @param scope what callers see; `undefined` refuses all of them
 */
export function createNameService(
  gateway: Gateway,
  scope: TokenScope | undefined,
): (query: NameQuery, keepAlive: KeepAlive) => Promise<JsonReply> {
  const client = scope && { ...CALLER, visibility: visibilityOf(scope) }
  return async (query, keepAlive) => {
    if (client === undefined) throw new Error(CLOSED)
    const message = readNameQuery(query)
    await gateway.admission.count(RATE_KEY)
    const arrival = { method: 'SERVICE', head: HEAD }
    const reply = await gateway.answerFor(gateway.read(message, client), keepAlive, arrival)
    if (reply === undefined) throw noAnswer()
    return describeReply(reply)
  }
}
