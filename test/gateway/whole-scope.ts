/**
 * A scope for tests.
 * @module
 */
import type { TokenScope } from '../../src/gateway/config/token-scope.ts'

/** What sees and may do everything. */
export const WHOLE_SCOPE: TokenScope = {
  clusters: ['*'],
  origins: ['*'],
  namespaces: ['*'],
  recurse: true,
}
