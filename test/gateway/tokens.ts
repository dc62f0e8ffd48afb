/**
 * Tokens for tests, and a store that has them.
 * @module
 */
import { randomBytes } from 'node:crypto'
import { newSecret, newTokenId, type TokenRecord } from '../../src/gateway/access/token.ts'
import { createMemoryTokenStore, type TokenStore } from '../../src/gateway/access/token-store.ts'
import { WHOLE_SCOPE } from './whole-scope.ts'

/** Makes a token that sees everything, but for what is said. */
export async function tokenRecord(
  fields: Partial<TokenRecord> = {},
): Promise<{ readonly token: string; readonly record: TokenRecord }> {
  const id = newTokenId(randomBytes)
  const { token, sha256, hostSha256 } = await newSecret(id, randomBytes)
  const record = {
    id,
    name: '',
    scope: WHOLE_SCOPE,
    identities: [],
    secrets: [{ sha256, hostSha256, expiresMs: undefined }],
    createdMs: 0,
    expiresMs: undefined,
    ...fields,
  }
  return { token, record }
}

/** A store with some records. */
export function storeOf(records: readonly TokenRecord[]): TokenStore {
  const store = createMemoryTokenStore()
  for (const record of records) void store.add(record)
  return store
}
