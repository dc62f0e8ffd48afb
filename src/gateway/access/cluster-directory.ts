/**
 * The store of the clusters that an operator adds and removes while the gateway runs, beside those
 * of CLUSTERS.
 * @module
 */
import { isRecord, parseJson } from '../../dns/bytes/unknown.ts'

/** Most clusters of a directory: gateways hold all of them in memory, each in under 1 KiB. */
export const DIRECTORY_MAX = 5000
/** Most clusters with issuers, which take up to 4 KiB more, and 20 KiB once they are parsed. */
export const WITH_ISSUERS_MAX = 500

/** What one exporter of a cluster has, as hashes and public halves. */
export type ExporterKeys = {
  /** The key that verifies its manifests: 32 bytes in base64url. */
  readonly publicKey: string
  /** SHA-256 of its token, in hexadecimal digits. */
  readonly tokenSha256: string
  /** When they were added, in milliseconds since 1970. */
  readonly createdMs: number
}

/** A cluster of the directory. */
export type DirectoryEntry = {
  readonly id: string
  readonly createdMs: number
  /** The newest first: one, and several while they rotate. */
  readonly keys: readonly ExporterKeys[]
  /** The issuers whose tokens count for this cluster, as a JSON list; absent for none. */
  readonly issuers?: string
}

/** The outcome of an addition. */
export type DirectoryAddition = 'added' | 'exists' | 'full'

/** What became of entries that come from another directory; identifiers. */
export type DirectoryAdditions = {
  readonly added: readonly string[]
  /** How many the directory had. */
  readonly same: number
  /** If there are any, nothing was added. */
  readonly refused: readonly { readonly id: string; readonly reason: 'differs' | 'full' }[]
}

/** What changed in the directory, or all of it. */
export type DirectoryUpdate = {
  readonly isWhole: boolean
  readonly entries: readonly DirectoryEntry[]
  /** Identifiers. */
  readonly removed: readonly string[]
}

/** The directory. Each change is atomic: it is checked against the entries at the time of it. */
export type ClusterDirectory = {
  readonly list: () => Promise<readonly DirectoryEntry[]>
  /** Adds an entry, unless there is one with its identifier or {@link DIRECTORY_MAX} of them. */
  readonly add: (entry: DirectoryEntry) => Promise<DirectoryAddition>
  /** Adds all entries of another directory or none, by the rules of {@link addAllEntries}. */
  readonly addAll: (entries: readonly DirectoryEntry[]) => Promise<DirectoryAdditions>
  /**
   * Replaces `before` by `next`, which has the same identifier. Resolves with false, and changes
   * nothing, when the store has another entry by now, or none.
   */
  readonly replace: (before: DirectoryEntry, next: DirectoryEntry) => Promise<boolean>
  /** Removes an entry; false when there is none. */
  readonly remove: (id: string) => Promise<boolean>
}

/** Formats an entry as JSON. */
export function formatDirectoryEntry(entry: DirectoryEntry): string {
  return JSON.stringify(entry)
}

/** Parses what {@link formatDirectoryEntry} returned; `undefined` for anything else. */
export function parseDirectoryEntry(text: string): DirectoryEntry | undefined {
  const value = parseJson(text)
  if (!isRecord(value)) return undefined
  const { id, createdMs, keys, issuers } = value
  if (typeof id !== 'string' || typeof createdMs !== 'number') return undefined
  if (issuers !== undefined && typeof issuers !== 'string') return undefined
  if (!Array.isArray(keys) || !keys.every(isKeys)) return undefined
  return {
    id,
    createdMs,
    keys: keys.map((one) => ({
      publicKey: one.publicKey,
      tokenSha256: one.tokenSha256,
      createdMs: one.createdMs,
    })),
    ...(issuers !== undefined && { issuers }),
  }
}

function isKeys(value: unknown): value is ExporterKeys {
  if (!isRecord(value)) return false
  const { publicKey, tokenSha256, createdMs } = value
  const areTexts = typeof publicKey === 'string' && typeof tokenSha256 === 'string'
  return areTexts && typeof createdMs === 'number'
}

/** Adds an entry to a map, by the rules of {@link ClusterDirectory}. */
export function addEntry(
  entries: Map<string, DirectoryEntry>,
  entry: DirectoryEntry,
): DirectoryAddition {
  if (entries.has(entry.id)) return 'exists'
  if (entries.size >= DIRECTORY_MAX) return 'full'
  entries.set(entry.id, entry)
  return 'added'
}

/**
 * Adds entries of another directory to a map: all, or none where the map has one of them with other
 * keys or issuers, or no room.
 */
export function addAllEntries(
  entries: Map<string, DirectoryEntry>,
  wanted: readonly DirectoryEntry[],
): DirectoryAdditions {
  const fresh = wanted.filter(({ id }) => !entries.has(id))
  const different = wanted.filter(
    (one) => entries.has(one.id) && !equalEntries(entries.get(one.id), one),
  )
  const beyond = fresh.slice(Math.max(0, DIRECTORY_MAX - entries.size))
  const refused = [
    ...different.map(({ id }) => ({ id, reason: 'differs' as const })),
    ...beyond.map(({ id }) => ({ id, reason: 'full' as const })),
  ]
  if (refused.length > 0) return { added: [], same: 0, refused }
  for (const entry of fresh) entries.set(entry.id, entry)
  return { added: fresh.map(({ id }) => id), same: wanted.length - fresh.length, refused }
}

/** Replaces an entry in a map, if it is unchanged. */
export function replaceEntry(
  entries: Map<string, DirectoryEntry>,
  before: DirectoryEntry,
  next: DirectoryEntry,
): boolean {
  const isSame = equalEntries(entries.get(before.id), before)
  if (isSame) entries.set(before.id, next)
  return isSame
}

/** Returns whether two entries are equal. */
export function equalEntries(a: DirectoryEntry | undefined, b: DirectoryEntry): boolean {
  return a !== undefined && formatDirectoryEntry(a) === formatDirectoryEntry(b)
}

/** Creates a directory in memory, for tests and for gateways without a folder. */
export function createMemoryDirectory(): ClusterDirectory {
  const entries = new Map<string, DirectoryEntry>()
  return {
    list: () => Promise.resolve([...entries.values()]),
    add: (entry) => Promise.resolve(addEntry(entries, entry)),
    addAll: (wanted) => Promise.resolve(addAllEntries(entries, wanted)),
    replace: (before, next) => Promise.resolve(replaceEntry(entries, before, next)),
    remove: (id) => Promise.resolve(entries.delete(id)),
  }
}
