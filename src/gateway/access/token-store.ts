/**
 * The store of client tokens.
 * @module
 */
import { isRecord, isTexts, parseJson } from '../../dns/bytes/unknown.ts'
import { TOKEN_ROLES } from '../config/issuers.ts'
import type { TokenScope } from '../config/token-scope.ts'
import {
  type DirectoryEntry,
  formatDirectoryEntry,
  parseDirectoryEntry,
} from './cluster-directory.ts'
import { type ObjectsOutcome, replaceObjectsIn } from './object-tokens.ts'
import { isRevocation, type TokenRecord, type TokenSecret } from './token.ts'

/** Most tokens of a gateway, because readers hold all of them in memory. */
export const TOKENS_MAX = 10_000

/** The outcome of an addition; with `taken`, token `id` has the identity already. */
export type Addition =
  | { readonly kind: 'added' | 'exists' | 'full' }
  | { readonly kind: 'taken'; readonly identity: string; readonly id: string }

/** What became of records that come from another store; identifiers. */
export type Additions = {
  /** New ones, and revocations that are now later. */
  readonly added: readonly string[]
  /** How many the store had. */
  readonly same: number
  /** If there are any, nothing was added. */
  readonly refused: readonly {
    readonly id: string
    readonly reason: 'differs' | 'identity_taken' | 'full'
  }[]
}

/** What changed in the list of tokens, and in the directory, since a version, or all of both. */
export type TokenUpdate = {
  readonly version: string
  readonly isWhole: boolean
  readonly records: readonly TokenRecord[]
  /** Identifiers. */
  readonly removed: readonly string[]
  /** Absent where an earlier build keeps the tokens, which has no directory. */
  readonly clusters?: readonly DirectoryEntry[]
  readonly removedClusters?: readonly string[]
}

/** The outcome of a return to an earlier list. */
export type Restoration =
  /** `atMs` is when the list was written, or the requested time, in milliseconds since 1970. */
  | { readonly kind: 'restored'; readonly atMs: number }
  /**
   * The store has no list that is as old; `oldestMs` is the time of the oldest, if there is
   * any.
   */
  | { readonly kind: 'missing'; readonly oldestMs: number | undefined }
  | { readonly kind: 'unsupported'; readonly reason: string }

/**
 * The tokens. Each change is atomic: it is checked against the records at the time of the write. A
 * removed record comes back by `restore` only.
 */
export type TokenStore = {
  readonly list: () => Promise<readonly TokenRecord[]>
  /**
   * Calls `take` at once, and again with each change for `waitMs`; without an update where there is
   * none. Absent where changes are noticed by reading again.
   * @param known the version that the follower has; '' for none
   */
  readonly follow?: (
    known: string,
    waitMs: number,
    take: (update: TokenUpdate | undefined) => void,
  ) => Promise<void>
  /** Adds a record by the rules of {@link checkAddition}. */
  readonly add: (record: TokenRecord) => Promise<Addition>
  /** Adds all records of another store or none, by the rules of {@link addAllTo}. */
  readonly addAll: (records: readonly TokenRecord[]) => Promise<Additions>
  /**
   * Replaces `before` by `next`, which has the same identifier. Resolves with false, and changes
   * nothing, when the store has another record by now, or none.
   */
  readonly replace: (before: TokenRecord, next: TokenRecord) => Promise<boolean>
  /** Removes a record; false when there is none. */
  readonly remove: (id: string) => Promise<boolean>
  /** Replaces the records of a cluster's objects, as {@link replaceObjectsIn} does. */
  readonly replaceObjects: (
    cluster: string,
    wanted: readonly TokenRecord[],
  ) => Promise<ObjectsOutcome>
  /**
   * Returns to the list that the store had at a time, in milliseconds since 1970; followers get it
   * as a change. Absent where no earlier lists are kept.
   */
  readonly restore?: (atMs: number) => Promise<Restoration>
  /** Notes days of use by identifier. Writes nothing for unknown tokens and noted days. */
  readonly noteUse: (days: TokenDays) => Promise<void>
}

/** Days, in days since 1970, by the identifiers of tokens that were used on them. */
export type TokenDays = readonly (readonly [id: string, day: number])[]

/**
 * Returns whether a record may be added: its identifier is new, no other token has one of its
 * identities (else the identity's visibility would be ambiguous), and there are fewer than
 * {@link TOKENS_MAX} records.
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

/** Returns whether two records are equal. */
export function equalRecords(a: TokenRecord | undefined, b: TokenRecord): boolean {
  return a !== undefined && formatTokenRecord(a) === formatTokenRecord(b)
}

/** Formats a record as JSON. Leaves out unset times. */
export function formatTokenRecord(record: TokenRecord): string {
  return JSON.stringify(record)
}

/** Parses what {@link formatTokenRecord} returned; `undefined` for anything else. */
export function parseTokenRecord(text: string): TokenRecord | undefined {
  const value = parseJson(text)
  if (!isRecord(value)) return undefined
  const { id, name, scope, identities, secrets, createdMs, expiresMs, usedDay, by, role } = value
  const isValid =
    typeof id === 'string' &&
    typeof name === 'string' &&
    typeof createdMs === 'number' &&
    isScope(scope) &&
    isTexts(identities) &&
    isOptionalTime(expiresMs) &&
    isOptionalTime(usedDay) &&
    (by === undefined || typeof by === 'string') &&
    Array.isArray(secrets) &&
    secrets.every(isSecret)
  const known = TOKEN_ROLES.find((one) => one === role)
  if (!isValid || known !== role) return undefined
  return {
    id,
    name,
    scope,
    identities,
    secrets: secrets.map(({ sha256, hostSha256, expiresMs: endMs }) => ({
      sha256,
      ...(hostSha256 !== undefined && { hostSha256 }),
      expiresMs: endMs,
    })),
    createdMs,
    expiresMs,
    ...(by !== undefined && { by }),
    ...(known !== undefined && { role: known }),
    ...(usedDay !== undefined && { usedDay }),
  }
}

/** Formats an update as JSON. */
export function formatTokenUpdate(update: TokenUpdate): string {
  const { records, clusters } = update
  return JSON.stringify({
    ...update,
    records: records.map(formatTokenRecord),
    clusters: clusters?.map(formatDirectoryEntry),
  })
}

/**
 * Parses what {@link formatTokenUpdate} returned.
 * @throws {TypeError} for anything else
 */
export function parseTokenUpdate(text: string): TokenUpdate {
  const value = parseJson(text)
  const fields = isRecord(value) ? value : {}
  const { version, isWhole, records, removed, clusters, removedClusters = [] } = fields
  const isValid =
    typeof version === 'string' &&
    typeof isWhole === 'boolean' &&
    isTexts(records) &&
    isTexts(removed) &&
    isTexts(clusters ?? []) &&
    isTexts(removedClusters)
  if (!isValid) throw new TypeError('the list of tokens is broken')
  return {
    version,
    isWhole,
    removed,
    records: records.flatMap((one) => parseTokenRecord(one) ?? []),
    ...(isTexts(clusters) && {
      clusters: clusters.flatMap((one) => parseDirectoryEntry(one) ?? []),
      removedClusters,
    }),
  }
}

function isScope(value: unknown): value is TokenScope {
  if (!isRecord(value)) return false
  const { clusters, origins, namespaces, recurse } = value
  return [clusters, origins, namespaces].every(isTexts) && typeof recurse === 'boolean'
}

function isSecret(value: unknown): value is TokenSecret {
  if (!isRecord(value) || typeof value.sha256 !== 'string') return false
  if (value.hostSha256 !== undefined && typeof value.hostSha256 !== 'string') return false
  return isOptionalTime(value.expiresMs)
}

/** A value of another type must not count as "never expires". */
function isOptionalTime(value: unknown): value is number | undefined {
  return value === undefined || typeof value === 'number'
}

/** Adds a record to a map, if {@link checkAddition} allows it. */
export function addTo(records: Map<string, TokenRecord>, record: TokenRecord): Addition {
  const addition = checkAddition(records, record)
  if (addition.kind === 'added') records.set(record.id, record)
  return addition
}

/**
 * Adds records of another store to a map: all, or none where one is refused. A record that the map
 * has may differ in its day of use only, so that no token gets another scope, secret or end; of two
 * revocations of a subject, the later one counts.
 */
export function addAllTo(
  records: Map<string, TokenRecord>,
  wanted: readonly TokenRecord[],
): Additions {
  const all = new Map(records)
  const ownerOf = new Map<string, string>()
  for (const { id, identities } of records.values()) {
    for (const identity of identities) ownerOf.set(identity, id)
  }
  const next = new Map<string, TokenRecord>()
  const put = (record: TokenRecord): void => {
    for (const map of [all, next]) map.set(record.id, record)
    for (const identity of record.identities) ownerOf.set(identity, record.id)
  }
  const refused: Additions['refused'][number][] = []
  for (const record of wanted) {
    const { id, createdMs, expiresMs } = record
    const [owner = ''] = record.identities.flatMap((identity) => ownerOf.get(identity) ?? [])
    const known = all.get(id) ?? all.get(owner)
    if (known === undefined) {
      if (all.size >= TOKENS_MAX) refused.push({ id, reason: 'full' })
      put(record)
    } else if (known.id === owner && isRevocation(known) && isRevocation(record)) {
      if (known.createdMs < createdMs) put({ ...known, createdMs, expiresMs })
    } else if (known.id !== id) {
      refused.push({ id, reason: 'identity_taken' })
    } else if (!isSameToken(known, record)) {
      refused.push({ id, reason: 'differs' })
    }
  }
  if (refused.length > 0) return { added: [], same: 0, refused }
  for (const [id, record] of next) records.set(id, record)
  return { added: [...next.keys()], same: wanted.length - next.size, refused }
}

/** Returns whether additions changed anything. */
export function hasAdded({ added }: Additions): boolean {
  return added.length > 0
}

/**
 * Returns whether two records differ in the day of use at most. Compares by value: the fields of a
 * record in memory may have another order.
 */
export function isSameToken(known: TokenRecord, record: TokenRecord): boolean {
  const [had, wanted] = [formatTokenRecord(unused(known)), unused(record)]
  if (had === formatTokenRecord(wanted)) return true
  const read = parseTokenRecord(had)
  return read !== undefined && equalRecords(read, wanted)
}

/** Returns a record without the day of its last use. */
export function unused({ usedDay: _, ...record }: TokenRecord): TokenRecord {
  return record
}

/** Replaces a record in a map, if it is unchanged. */
export function replaceIn(
  records: Map<string, TokenRecord>,
  before: TokenRecord,
  next: TokenRecord,
): boolean {
  const isSame = equalRecords(records.get(before.id), before)
  if (isSame) records.set(before.id, next)
  return isSame
}

/** Notes days of use in a map; returns whether a record changed. */
export function noteUseIn(records: Map<string, TokenRecord>, days: TokenDays): boolean {
  let isChange = false
  for (const [id, usedDay] of days) {
    const record = records.get(id)
    if (record === undefined || (record.usedDay ?? -1) >= usedDay) continue
    records.set(id, { ...record, usedDay })
    isChange = true
  }
  return isChange
}

/** Creates a store in memory, for tests and for gateways without a folder. */
export function createMemoryTokenStore(): TokenStore {
  const records = new Map<string, TokenRecord>()
  return {
    list: () => Promise.resolve([...records.values()]),
    add: (record) => Promise.resolve(addTo(records, record)),
    addAll: (wanted) => Promise.resolve(addAllTo(records, wanted)),
    replace: (before, next) => Promise.resolve(replaceIn(records, before, next)),
    remove: (id) => Promise.resolve(records.delete(id)),
    replaceObjects: (cluster, wanted) =>
      Promise.resolve(replaceObjectsIn(records, cluster, wanted)),
    noteUse: async (days) => void noteUseIn(records, days),
  }
}
