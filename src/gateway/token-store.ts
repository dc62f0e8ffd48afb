/**
 * Where a gateway keeps the tokens of its clients.
 * @module
 */
import { isRecord } from '../bytes/unknown.ts'
import type { TokenRecord, TokenScope, TokenSecret } from './token.ts'

/** Tokens that one gateway may have: readers hold all of them. */
export const TOKENS_MAX = 10_000

/** What came of an addition: with `taken`, the token `id` has the identity already. */
export type Addition =
  | { readonly kind: 'added' | 'exists' | 'full' }
  | { readonly kind: 'taken'; readonly identity: string; readonly id: string }

/**
 * The tokens. Each change is one step, also while others change them: it is checked
 * against the records as they are when it is written. A removed record never comes back.
 */
export type TokenStore = {
  readonly list: () => Promise<readonly TokenRecord[]>
  /** Adds a record under the rules of {@link checkAddition}. */
  readonly add: (record: TokenRecord) => Promise<Addition>
  /**
   * Writes `next` in place of `before`, which has the same identifier. Resolves with false, and
   * changes nothing, when the store has another record by now or none.
   */
  readonly replace: (before: TokenRecord, next: TokenRecord) => Promise<boolean>
  /** Removes a record; false when there is none. */
  readonly remove: (id: string) => Promise<boolean>
}

/**
 * Returns whether a record may be added: its identifier is new, no other token has one of its
 * identities (which of two views the identity has would be left to chance), and there are fewer
 * than {@link TOKENS_MAX} records.
 */
export function checkAddition(
  known: ReadonlyMap<string, TokenRecord>,
  { id, identities }: TokenRecord,
): Addition {
  if (known.has(id)) return { kind: 'exists' }
  if (known.size >= TOKENS_MAX) return { kind: 'full' }
  if (identities.length === 0) return { kind: 'added' }
  for (const other of known.values()) {
    const identity = other.identities.find((one) => identities.includes(one))
    if (identity !== undefined) return { kind: 'taken', identity, id: other.id }
  }
  return { kind: 'added' }
}

/** Returns whether two records say the same. */
export function equalRecords(a: TokenRecord | undefined, b: TokenRecord): boolean {
  return a !== undefined && formatTokenRecord(a) === formatTokenRecord(b)
}

/**
 * Writes a record as JSON. Times that are not set are left out.
 */
export function formatTokenRecord(record: TokenRecord): string {
  return JSON.stringify(record)
}

/** Reads what `formatTokenRecord` wrote; `undefined` when it is something else. */
export function parseTokenRecord(text: string): TokenRecord | undefined {
  const value = parseJson(text)
  if (!isRecord(value)) return undefined
  const { id, name, scope, identities, secrets, createdMs, expiresMs } = value
  const isWhole =
    typeof id === 'string' &&
    typeof name === 'string' &&
    typeof createdMs === 'number' &&
    isScope(scope) &&
    isTexts(identities) &&
    isOptionalTime(expiresMs) &&
    Array.isArray(secrets) &&
    secrets.every(isSecret)
  if (!isWhole) return undefined
  return {
    id,
    name,
    scope,
    identities,
    secrets: secrets.map(({ sha256, expiresMs: endMs }) => ({ sha256, expiresMs: endMs })),
    createdMs,
    expiresMs,
  }
}

function isScope(value: unknown): value is TokenScope {
  if (!isRecord(value)) return false
  const { clusters, origins, namespaces, recurse } = value
  return [clusters, origins, namespaces].every(isTexts) && typeof recurse === 'boolean'
}

function isSecret(value: unknown): value is TokenSecret {
  if (!isRecord(value) || typeof value.sha256 !== 'string') return false
  return isOptionalTime(value.expiresMs)
}

/** Anything but a number must not pass for "never expires". */
function isOptionalTime(value: unknown): value is number | undefined {
  return value === undefined || typeof value === 'number'
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

/** Adds a record to a map of them, if it may be added. */
export function addTo(records: Map<string, TokenRecord>, record: TokenRecord): Addition {
  const addition = checkAddition(records, record)
  if (addition.kind === 'added') records.set(record.id, record)
  return addition
}

/** Replaces a record in a map, if it is still there as it was before. */
export function replaceIn(
  records: Map<string, TokenRecord>,
  before: TokenRecord,
  next: TokenRecord,
): boolean {
  const isSame = equalRecords(records.get(before.id), before)
  if (isSame) records.set(before.id, next)
  return isSame
}

/** A store in memory, for tests and for gateways that are told their tokens anew. */
export function createMemoryTokenStore(): TokenStore {
  const records = new Map<string, TokenRecord>()
  return {
    list: () => Promise.resolve([...records.values()]),
    add: (record) => Promise.resolve(addTo(records, record)),
    replace: (before, next) => Promise.resolve(replaceIn(records, before, next)),
    remove: (id) => Promise.resolve(records.delete(id)),
  }
}
