/**
 * What other Workers of the account see by a service binding: SERVICE_SCOPE.
 * @module
 */
import { GatewayConfigError } from './config.ts'
import { readScope, ScopeError, type TokenScope } from './token-scope.ts'

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
    return readScope({ namespaces })
  } catch (error) {
    if (!(error instanceof ScopeError)) throw error
    throw new GatewayConfigError(`SERVICE_SCOPE: ${error.message}`, { cause: error })
  }
}
