/**
 * What other Workers of the account see by a service binding: SERVICE_SCOPE.
 * @module
 */
import { GatewayConfigError } from '../config/config.ts'
import { HttpError } from '../doh/http-error.ts'
import type { TokenScope } from './token.ts'
import { readTokenRequest } from './token-request.ts'

/**
 * Reads comma-separated patterns of namespaces and labels, as those of a token. A scope covers all
 * clusters and origins, and no names of other servers. `undefined` for '' and none: no Worker may
 * query.
 * @throws {GatewayConfigError} for anything else
 */
export function readServiceScope(text: unknown): TokenScope | undefined {
  if (text === undefined || text === '') return undefined
  const namespaces = String(text)
    .split(',')
    .map((pattern) => pattern.trim())
  try {
    return readTokenRequest(JSON.stringify({ namespaces })).scope
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    throw new GatewayConfigError(`SERVICE_SCOPE: ${error.message}`, { cause: error })
  }
}
