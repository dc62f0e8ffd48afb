/**
 * The operator's routes that read and add what exporters do not publish again: client tokens,
 * revocations of subjects and the directory of clusters.
 * @module
 */
import type { Context } from 'hono'
import { Hono } from 'hono/tiny'
import { createSharedPause, type Turns } from '../../dns/bytes/steps.ts'
import { noteFacts } from '../access/audit.ts'
import {
  BACKUP_BYTES_MAX,
  type Backup,
  BackupError,
  backupLines,
  parseBackup,
} from '../access/backup.ts'
import {
  addAllEntries,
  type DirectoryAdditions,
  type DirectoryEntry,
} from '../access/cluster-directory.ts'
import type { DirectoryRuntime } from '../access/known-clusters.ts'
import { objectCluster } from '../access/object-tokens.ts'
import { checkAdmin } from '../access/operators.ts'
import { type Additions, type TokenStore, unused } from '../access/token-store.ts'
import type { GatewayConfig } from '../config/config.ts'
import { clusterPlaces } from '../config/directive-zones.ts'
import { HttpError } from '../doh/http-error.ts'
import { jsonResponse, streamOf, uncached } from '../doh/json-response.ts'
import { readBody } from '../doh/read-body.ts'
import { checkIssuerRoom, checkPlace } from './cluster-checks.ts'

/** Identifiers that an error names; it has the number of the others. */
const NAMED_MAX = 10
/** Lines that are sent at a time. */
const LINES_AT_ONCE = 200

const NOTHING = { added: [], same: 0, refused: [] } as const
const REASONS = {
  differs: 'the gateway has it otherwise',
  identity_taken: 'another token has its identity',
  full: 'there is no room',
} as const

/** What the routes need. */
type BackupOptions = Pick<GatewayConfig, 'adminSha256s' | 'blocks' | 'clusters'> & {
  readonly directory?: DirectoryRuntime
  readonly tokenStore: TokenStore
  /** Has this process or isolate read the tokens and the directory, which have changed. */
  readonly reload: () => Promise<void>
  readonly host: Turns
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Creates the app with `/v1/backup`. */
export function createBackupRoute(options: BackupOptions): Hono {
  const app = new Hono()
  const pause = createSharedPause(options.host)
  app.get('/v1/backup', async (c) => {
    await checkAdmin(c, options.adminSha256s)
    const backup = await readBackup(c.req.query('only'), options)
    const { tokens, clusters } = backup
    noteFacts(c, { tokens: tokens.length, clusters: clusters.length })
    const lines = await backupLines(backup, pause)
    const headers = { 'content-type': 'application/jsonl' }
    return uncached(200, streamOf(textsOf(lines), pause), headers)
  })
  app.post('/v1/backup', async (c) => {
    await checkAdmin(c, options.adminSha256s)
    const body = await readBody(c.req.raw, BACKUP_BYTES_MAX)
    return add(c, await parse(new TextDecoder().decode(body), pause), options)
  })
  return app
}

/** Leaves out what exporters send again: tokens of objects. */
async function readBackup(
  only: string | undefined,
  { clusters, directory, tokenStore, now }: BackupOptions,
): Promise<Backup> {
  if (only !== undefined && only !== 'tokens') {
    throw new HttpError(400, 'bad_parameter', '"only" is not "tokens"')
  }
  const all = await tokenStore.list()
  const entries = (await directory?.store.list()) ?? []
  const listed = entries.filter(({ id }) => !clusters.has(id))
  return {
    kind: only ?? 'backup',
    created: new Date(now()).toISOString(),
    known: [...clusters.keys(), ...listed.map(({ id }) => id)],
    tokens: all.filter((record) => objectCluster(record) === undefined).map(unused),
    clusters: only === undefined ? listed : [],
    pins: [],
  }
}

async function parse(text: string, pause: () => Promise<void> | undefined): Promise<Backup> {
  try {
    return await parseBackup(text, pause)
  } catch (error) {
    if (!(error instanceof BackupError)) throw error
    throw new HttpError(400, 'bad_backup', `Line ${error.line} ${error.message}`)
  }
}

/**
 * Checks all of a backup, then adds its tokens, then its clusters: each all or none. To repeat the
 * request adds what is missing.
 * @throws {HttpError} 409 for what the gateway has otherwise, or has no place for
 */
async function add(c: Context, backup: Backup, options: BackupOptions): Promise<Response> {
  const { tokenStore, directory, reload } = options
  const { tokens, clusters } = backup
  if (clusters.length > 0) await checkClusters(clusters, options)
  const ofTokens = tokens.length > 0 ? await tokenStore.addAll(tokens) : NOTHING
  if (ofTokens.refused.length > 0) throw refusal('token', ofTokens)
  const ofClusters = (clusters.length > 0 && (await directory?.store.addAll(clusters))) || NOTHING
  if (ofClusters.refused.length > 0) throw refusal('cluster', ofClusters)
  if (ofTokens.added.length + ofClusters.added.length > 0) await reload()
  const [newTokens, newClusters] = [ofTokens.added.length, ofClusters.added.length]
  noteFacts(c, { made: backup.created.slice(0, 24), tokens: newTokens, clusters: newClusters })
  return jsonResponse(200, { tokens: describe(ofTokens), clusters: describe(ofClusters) })
}

function describe({ added, same }: Additions | DirectoryAdditions): object {
  return { added, same }
}

/** @throws {HttpError} 404 without a directory, 409 for a cluster without a place */
async function checkClusters(
  wanted: readonly DirectoryEntry[],
  { directory, clusters, blocks, host }: BackupOptions,
): Promise<void> {
  if (directory === undefined) {
    throw new HttpError(404, 'no_directory', 'This gateway has the clusters of CLUSTERS only')
  }
  const placesOf = clusterPlaces(blocks)
  const pause = createSharedPause(host)
  for (const { id } of wanted) {
    if (clusters.has(id)) {
      const message = `Cluster "${id}" is in the variable CLUSTERS; remove it from there first`
      throw new HttpError(409, 'configured', message)
    }
    checkPlace(placesOf(id))
    await pause()
  }
  const listed = await directory.store.list()
  checkIssuerRoom(listed, wanted)
  const additions = addAllEntries(new Map(listed.map((entry) => [entry.id, entry])), wanted)
  if (additions.refused.length > 0) throw refusal('cluster', additions)
}

function refusal(what: string, { refused }: Additions | DirectoryAdditions): HttpError {
  const named = refused.slice(0, NAMED_MAX).map(({ id, reason }) => `${id} (${REASONS[reason]})`)
  const rest = refused.length - named.length
  const more = rest > 0 ? ` and ${rest} more` : ''
  const message = `Nothing was added, because of ${what} ${named.join(', ')}${more}`
  return new HttpError(409, 'backup_differs', message)
}

function* textsOf(lines: readonly string[]): Generator<string> {
  for (let start = 0; start < lines.length; start += LINES_AT_ONCE) {
    yield lines.slice(start, start + LINES_AT_ONCE).join('')
  }
}
