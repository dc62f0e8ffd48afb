/**
 * Where a gateway keeps the tokens of its clients.
 * @module
 */
import type { TokenRecord, TokenScope, TokenSecret } from './token.ts'

/** Tokens that one gateway may have: readers hold all of them. */
export const TOKENS_MAX = 10_000

/** The tokens. One writer acts at a time; readers see a record whole or not at all. */
export type TokenStore = {
  readonly list: () => Promise<readonly TokenRecord[]>
  /** Adds a record, or puts it in place of the one with its identifier. */
  readonly put: (record: TokenRecord) => Promise<void>
  /** Removes a record; false when there is none. */
  readonly remove: (id: string) => Promise<boolean>
}

/**
 * Writes a record as JSON. Times that are not set are left out.
 */
export function formatTokenRecord(record: TokenRecord): string {
  return JSON.stringify(record)
}

/** Reads what `formatTokenRecord` wrote; `undefined` when it is something else. */
export function parseTokenRecord(text: string): TokenRecord | undefined {
  const value: unknown = JSON.parse(text)
  if (!isObject(value)) return undefined
  const { id, name, scope, identities, secrets, createdMs, expiresMs } = value
  const isRecord =
    typeof id === 'string' &&
    typeof name === 'string' &&
    typeof createdMs === 'number' &&
    isScope(scope) &&
    isTexts(identities) &&
    Array.isArray(secrets)
  if (!isRecord) return undefined
  return {
    id,
    name,
    scope,
    identities,
    secrets: secrets.filter(isSecret).map((one) => ({ ...one, expiresMs: one.expiresMs })),
    createdMs,
    expiresMs: typeof expiresMs === 'number' ? expiresMs : undefined,
  }
}

function isScope(value: unknown): value is TokenScope {
  if (!isObject(value)) return false
  const { clusters, origins, namespaces, recurse } = value
  return [clusters, origins, namespaces].every(isTexts) && typeof recurse === 'boolean'
}

function isSecret(value: unknown): value is TokenSecret {
  if (!isObject(value) || typeof value.sha256 !== 'string') return false
  return value.expiresMs === undefined || typeof value.expiresMs === 'number'
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A store in memory, for tests and for gateways that are told their tokens anew. */
export function createMemoryTokenStore(): TokenStore {
  const records = new Map<string, TokenRecord>()
  return {
    list: () => Promise.resolve([...records.values()]),
    put: (record) => {
      records.set(record.id, record)
      return Promise.resolve()
    },
    remove: (id) => Promise.resolve(records.delete(id)),
  }
}
