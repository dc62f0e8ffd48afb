/**
 * What a gateway has that exporters do not publish again, as a document: the tokens of clients,
 * revocations of subjects, and the directory of clusters. Hashes and public keys, never a secret.
 *
 * A document has one JSON object a line: a {@link Head}, tokens, clusters and pins, and at last the
 * number of lines before. Each line ends with a part of its own SHA-256 in `sum`.
 * @module
 */
import { isRecord, isTexts, parseJson } from '../../dns/bytes/unknown.ts'
import { CLUSTER_ID } from '../../snapshot/format/manifest.ts'
import { importPublicKey, sha256Hex } from '../../snapshot/format/signature.ts'
import { CLUSTER_KEYS_MAX, TOKEN_SHA256 } from '../config/cluster-entry.ts'
import { readClusterIssuers } from '../config/cluster-issuers.ts'
import { IssuersError } from '../config/issuers.ts'
import { readScope, SCOPE_FIELDS, ScopeError } from '../config/token-scope.ts'
import { DIRECTORY_MAX, type DirectoryEntry, parseDirectoryEntry } from './cluster-directory.ts'
import { objectCluster } from './object-tokens.ts'
import { isRevocation, SECRETS_MAX, type TokenRecord } from './token.ts'
import { readIdentities, readName } from './token-request.ts'
import { parseTokenRecord, TOKENS_MAX } from './token-store.ts'

/** A cluster that an operator pinned to a generation. */
export type PinnedCluster = { readonly cluster: string; readonly generation: number }

/** The contents of a document. */
export type Backup = {
  /** Whether it is of tokens only. */
  readonly kind: 'backup' | 'tokens'
  /** When it was made: a time in UTC, as ISO 8601. */
  readonly created: string
  /** All clusters that the gateway had, also those of CLUSTERS. */
  readonly known: readonly string[]
  readonly tokens: readonly TokenRecord[]
  readonly clusters: readonly DirectoryEntry[]
  readonly pins: readonly PinnedCluster[]
}

/** A line that is not what {@link backupLines} wrote; `line` counts from 1. */
export class BackupError extends Error {
  override readonly name = 'BackupError'
  readonly line: number

  constructor(line: number, problem: string) {
    super(problem)
    this.line = line
  }
}

/** Longest document: 10,000 tokens of a thousand bytes and the rest. */
export const BACKUP_BYTES_MAX: number = 16 * 1024 * 1024
const VERSION = 1
const LINES_MAX = 3 + TOKENS_MAX + 2 * DIRECTORY_MAX
/** Digits of the SHA-256 at the end of a line. */
const SUM_DIGITS = 16
const LINE = /^(\{.+),"sum":"([0-9a-f]{16})"\}$/s
const FIELDS: readonly string[] =
  'id name scope identities secrets createdMs expiresMs usedDay by role'.split(' ')
/** As `toISOString` writes it: commands print it. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
/** Characters of the person who created a token. */
const BY_MAX = 768
/** Milliseconds since 1970 until which a `Date` counts. */
const TIME_MAX = 8_640_000_000_000_000

/** Lets other work go on; `undefined` where that is not due. */
type Pause = () => Promise<void> | undefined

/** Formats a document, in slices. Each text is a line with its line feed. */
export async function backupLines(backup: Backup, pause: Pause): Promise<readonly string[]> {
  const { kind, created, known, tokens, clusters, pins } = backup
  const contents: readonly object[] = [
    { kubedoh: kind, version: VERSION, created, clusters: known },
    ...tokens.map((token) => ({ token })),
    ...clusters.map((cluster) => ({ cluster })),
    ...pins.map((pin) => ({ pin })),
  ]
  const lines: string[] = []
  for (const one of [...contents, { end: contents.length }]) {
    const text = JSON.stringify(one).slice(0, -1)
    lines.push(`${text},"sum":"${await sumOf(text)}"}\n`)
    await pause()
  }
  return lines
}

/**
 * Parses a document, in slices. Checks each line as strictly as the routes that make tokens and
 * clusters; a token of a cluster's object is refused, because the exporter sends it again.
 * @throws {BackupError} for the first line that is wrong
 */
export async function parseBackup(text: string, pause: Pause): Promise<Backup> {
  // One text is that after the last line feed, one a line too many.
  const lines = text.split('\n', LINES_MAX + 2)
  if (lines.at(-1) === '') lines.pop()
  if (lines.length > LINES_MAX) throw new BackupError(LINES_MAX + 1, 'is one line too many')
  const fields: Fields[] = []
  for (const [i, line] of lines.entries()) {
    fields.push(await readLine(line, i + 1))
    await pause()
  }
  const [first = {}] = fields
  const end = fields.at(-1)?.end
  const { kind, created, known } = readHead(first)
  if (end !== fields.length - 1) {
    throw new BackupError(lines.length, 'is not the last line: the file is cut off')
  }
  const all = {
    tokens: new Map<string, TokenRecord>(),
    clusters: new Map<string, DirectoryEntry>(),
  }
  const pins: PinnedCluster[] = []
  for (const [i, one] of fields.slice(1, -1).entries()) {
    const at = i + 2
    if ('token' in one) addOnce(all.tokens, readToken(one.token, at), at)
    else if ('cluster' in one) addOnce(all.clusters, await readCluster(one.cluster, at), at)
    else pins.push(readPin(one.pin, at))
    await pause()
  }
  const [tokens, clusters] = [[...all.tokens.values()], [...all.clusters.values()]]
  return { kind, created, known, tokens, clusters, pins }
}

type Fields = Readonly<Record<string, unknown>>

async function readLine(line: string, at: number): Promise<Fields> {
  const [, text = '', sum] = LINE.exec(line) ?? []
  const value = parseJson(`${text}}`)
  if (isRecord(value) && sum === (await sumOf(text))) return value
  throw new BackupError(at, 'is damaged: it is not as kubedoh wrote it')
}

async function sumOf(text: string): Promise<string> {
  return (await sha256Hex(new TextEncoder().encode(text))).slice(0, SUM_DIGITS)
}

function readHead({
  kubedoh: kind,
  version,
  created,
  clusters: known,
}: Fields): Pick<Backup, 'kind' | 'created' | 'known'> {
  const none = new BackupError(1, 'does not begin a backup or an export of tokens')
  if ((kind !== 'backup' && kind !== 'tokens') || typeof version !== 'number') throw none
  if (version !== VERSION) {
    throw new BackupError(1, `has version ${version}, this build reads ${VERSION}`)
  }
  if (typeof created !== 'string' || !TIME.test(created)) throw none
  if (!isTexts(known) || !known.every((id) => CLUSTER_ID.test(id))) throw none
  return { kind, created, known }
}

function addOnce<T extends { readonly id: string }>(map: Map<string, T>, one: T, at: number): void {
  if (map.has(one.id)) throw new BackupError(at, `repeats "${one.id}"`)
  map.set(one.id, one)
}

/** A field that this build does not know may bound the token: it is refused. */
function readToken(value: unknown, at: number): TokenRecord {
  const record = parseTokenRecord(JSON.stringify(value ?? null))
  const scope = isRecord(value) && isRecord(value.scope) ? value.scope : {}
  const unknown =
    Object.keys(isRecord(value) ? value : {}).find((name) => !FIELDS.includes(name)) ??
    Object.keys(scope).find((name) => !SCOPE_FIELDS.includes(name))
  if (record === undefined || unknown !== undefined) {
    const why = unknown === undefined ? '' : `: ${JSON.stringify(unknown.slice(0, 40))} is unknown`
    throw new BackupError(at, `is no token${why}`)
  }
  const { id, secrets, createdMs, expiresMs, by = '' } = record
  const times = [createdMs, ...[record, ...secrets].map((one) => one.expiresMs ?? createdMs)]
  const isValid =
    /^[0-9a-f]{12}$/.test(id) &&
    secrets.length <= SECRETS_MAX &&
    secrets.every(({ sha256, hostSha256 = sha256 }) =>
      [sha256, hostSha256].every((hash) => TOKEN_SHA256.test(hash)),
    ) &&
    times.every((timeMs) => Number.isSafeInteger(timeMs) && 0 <= timeMs && timeMs <= TIME_MAX) &&
    by.length <= BY_MAX &&
    objectCluster(record) === undefined
  if (!isValid) throw new BackupError(at, 'is no token that an operator made')
  if (isRevocation(record)) return { ...record, expiresMs }
  try {
    const identities = readIdentities(record.identities)
    return { ...record, name: readName(record.name), scope: readScope(scope), identities }
  } catch (error) {
    if (!(error instanceof ScopeError)) throw error
    throw new BackupError(at, `is no token: ${error.message}`)
  }
}

async function readCluster(value: unknown, at: number): Promise<DirectoryEntry> {
  const entry = parseDirectoryEntry(JSON.stringify(value ?? null))
  const keys = entry?.keys ?? []
  const imported = await Promise.all(keys.map(({ publicKey }) => importPublicKey(publicKey)))
  const isValid =
    entry !== undefined &&
    CLUSTER_ID.test(entry.id) &&
    1 <= keys.length &&
    keys.length <= CLUSTER_KEYS_MAX &&
    imported.every((key) => key !== undefined) &&
    keys.every(({ tokenSha256 }) => TOKEN_SHA256.test(tokenSha256))
  if (!isValid) throw new BackupError(at, 'is no cluster')
  try {
    if (entry.issuers !== undefined) readClusterIssuers(entry.id, parseJson(entry.issuers))
    return entry
  } catch (error) {
    if (!(error instanceof IssuersError)) throw error
    throw new BackupError(at, `is no cluster: ${error.message}`)
  }
}

function readPin(value: unknown, at: number): PinnedCluster {
  const { cluster, generation } = isRecord(value) ? value : {}
  const isValid = typeof cluster === 'string' && CLUSTER_ID.test(cluster)
  if (isValid && typeof generation === 'number' && Number.isSafeInteger(generation)) {
    return { cluster, generation }
  }
  throw new BackupError(at, 'is neither a token nor a cluster nor a pin')
}
