/**
 * The Durable Object with the client tokens and the directory of clusters: their single writer.
 * @module
 */
import { DurableObject } from 'cloudflare:workers'
import {
  addAllEntries,
  addEntry,
  type DirectoryAddition,
  type DirectoryAdditions,
  type DirectoryEntry,
  equalEntries,
  formatDirectoryEntry,
  parseDirectoryEntry,
} from '../src/gateway/access/cluster-directory.ts'
import { type ObjectsOutcome, replaceObjectsIn } from '../src/gateway/access/object-tokens.ts'
import type { TokenRecord } from '../src/gateway/access/token.ts'
import {
  type Addition,
  type Additions,
  addAllTo,
  checkAddition,
  equalRecords,
  formatTokenRecord,
  formatTokenUpdate,
  noteUseIn,
  parseTokenRecord,
  type TokenDays,
} from '../src/gateway/access/token-store.ts'
import { Followers, type FollowerUpdate } from './followers.ts'
import { startAgainAt } from './restore-tokens.ts'

/** Changes that followers get one by one; one that has missed more gets the whole list. */
const CHANGES_MAX = 1000
/** Begins the identifier of a change of a cluster; those of tokens have no such byte. */
const CLUSTER = 'cluster/'

/** The tokens of one gateway. */
export class TokenObject extends DurableObject<object> {
  private readonly sql: SqlStorage
  private readonly followers: Followers

  constructor(state: DurableObjectState, env: object) {
    super(state, env)
    this.sql = state.storage.sql
    this.sql.exec('CREATE TABLE IF NOT EXISTS tokens (id TEXT PRIMARY KEY, record TEXT NOT NULL)')
    this.sql.exec('CREATE TABLE IF NOT EXISTS clusters (id TEXT PRIMARY KEY, entry TEXT NOT NULL)')
    this.sql.exec(
      'CREATE TABLE IF NOT EXISTS changes (version INTEGER PRIMARY KEY, id TEXT NOT NULL)',
    )
    this.followers = new Followers(state, async ({ version }) => this.updateFor(version))
  }

  /** Answers an isolate that follows: see {@link Followers}. */
  override fetch(request: Request): Promise<Response> {
    return this.followers.accept(request)
  }

  /** Lists all records, by identifier. */
  list(): readonly TokenRecord[] {
    const rows = this.sql.exec('SELECT record FROM tokens ORDER BY id').toArray()
    return rows.flatMap(({ record }) => parseTokenRecord(String(record)) ?? [])
  }

  /** Adds a record. Synchronous, so no other call runs between check and change. */
  add(record: TokenRecord): Addition {
    const addition = checkAddition(new Map(this.list().map((one) => [one.id, one])), record)
    if (addition.kind === 'added') {
      this.sql.exec('INSERT INTO tokens VALUES (?, ?)', record.id, formatTokenRecord(record))
      this.note(record.id)
    }
    return addition
  }

  /** Adds all records of another store, or none; synchronous too. */
  addAll(wanted: readonly TokenRecord[]): Additions {
    const records = new Map(this.list().map((one) => [one.id, one]))
    const additions = addAllTo(records, wanted)
    this.writeAll(records, additions.added)
    this.note(...additions.added)
    return additions
  }

  /** Replaces a record, if it is unchanged; synchronous too. */
  replace(before: TokenRecord, next: TokenRecord): boolean {
    const isSame = equalRecords(this.read(before.id), before)
    if (isSame) {
      this.update(next)
      this.note(next.id)
    }
    return isSame
  }

  /** Notes days of use; writes only the rows that change. */
  noteUse(days: TokenDays): void {
    for (const [id, day] of days) {
      const before = this.read(id)
      const records = new Map(before && [[id, before]])
      if (!noteUseIn(records, [[id, day]])) continue
      for (const record of records.values()) this.update(record)
    }
  }

  /** Removes a record; false when there is none. */
  remove(id: string): boolean {
    const gone = this.sql.exec('DELETE FROM tokens WHERE id = ? RETURNING id', id).toArray()
    if (gone.length > 0) this.note(id)
    return gone.length > 0
  }

  /** Replaces the records of a cluster's objects; synchronous, as {@link add}. */
  replaceObjects(cluster: string, wanted: readonly TokenRecord[]): ObjectsOutcome {
    const records = new Map(this.list().map((one) => [one.id, one]))
    const outcome = replaceObjectsIn(records, cluster, wanted)
    const { added, changed, removed } = outcome
    for (const id of removed) this.sql.exec('DELETE FROM tokens WHERE id = ?', id)
    this.writeAll(records, [...added, ...changed])
    this.note(...added, ...changed, ...removed)
    return outcome
  }

  /** Returns to the database of a time: see {@link startAgainAt}. */
  restore(atMs: number): Promise<string> {
    return startAgainAt(this.ctx, atMs)
  }

  /** Sends the whole list to each follower, as a new version. */
  noteRestored(): void {
    this.sql.exec('DELETE FROM changes')
    this.note('')
  }

  /** Lists the clusters of the directory, by identifier. */
  listClusters(): readonly DirectoryEntry[] {
    const rows = this.sql.exec('SELECT entry FROM clusters ORDER BY id').toArray()
    return rows.flatMap(({ entry }) => parseDirectoryEntry(String(entry)) ?? [])
  }

  /** Adds a cluster to the directory; synchronous, as {@link add}. */
  addCluster(entry: DirectoryEntry): DirectoryAddition {
    const addition = addEntry(new Map(this.listClusters().map((one) => [one.id, one])), entry)
    if (addition === 'added') {
      this.sql.exec('INSERT INTO clusters VALUES (?, ?)', entry.id, formatDirectoryEntry(entry))
      this.note(CLUSTER + entry.id)
    }
    return addition
  }

  /** Adds all entries of another directory, or none; synchronous, as {@link add}. */
  addClusters(wanted: readonly DirectoryEntry[]): DirectoryAdditions {
    const entries = new Map(this.listClusters().map((one) => [one.id, one]))
    const additions = addAllEntries(entries, wanted)
    const isNew = new Set(additions.added)
    for (const entry of wanted.filter(({ id }) => isNew.has(id))) {
      this.sql.exec('INSERT INTO clusters VALUES (?, ?)', entry.id, formatDirectoryEntry(entry))
    }
    this.note(...additions.added.map((id) => CLUSTER + id))
    return additions
  }

  /** Replaces a cluster of the directory, if it is unchanged. */
  replaceCluster(before: DirectoryEntry, next: DirectoryEntry): boolean {
    const isSame = equalEntries(this.readCluster(before.id), before)
    if (isSame) {
      const text = formatDirectoryEntry(next)
      this.sql.exec('UPDATE clusters SET entry = ? WHERE id = ?', text, next.id)
      this.note(CLUSTER + next.id)
    }
    return isSame
  }

  /** Removes a cluster of the directory; false when there is none. */
  removeCluster(id: string): boolean {
    const gone = this.sql.exec('DELETE FROM clusters WHERE id = ? RETURNING id', id).toArray()
    if (gone.length > 0) this.note(CLUSTER + id)
    return gone.length > 0
  }

  /** Notes changes for followers: of tokens, or of a cluster. Days of use are no such change. */
  private note(...ids: readonly string[]): void {
    if (ids.length === 0) return
    // After a restore to a point in time, no version comes again.
    const next = Math.max(this.version() + 1, Date.now())
    for (const [i, id] of ids.entries()) {
      this.sql.exec('INSERT INTO changes VALUES (?, ?)', next + i, id)
    }
    const oldest = 'SELECT version FROM changes ORDER BY version DESC LIMIT 1 OFFSET ?'
    this.sql.exec(`DELETE FROM changes WHERE version <= (${oldest})`, CHANGES_MAX)
    this.ctx.waitUntil(this.followers.notify())
  }

  private version(): number {
    const [row] = this.sql.exec('SELECT MAX(version) AS version FROM changes').toArray()
    return Number(row?.version ?? 0)
  }

  private updateFor(known: string): FollowerUpdate {
    const text = String(this.version())
    const isKnown =
      known === text ||
      this.sql.exec('SELECT 1 FROM changes WHERE version = ?', known).toArray().length > 0
    if (!isKnown) {
      const clusters = this.listClusters()
      const update = { version: text, isWhole: true, records: this.list(), removed: [], clusters }
      return { version: text, messages: [formatTokenUpdate(update)] }
    }
    const rows = this.sql.exec('SELECT DISTINCT id FROM changes WHERE version > ?', known).toArray()
    const changed = rows.map(({ id }) => String(id))
    const ofClusters = changed
      .filter((id) => id.startsWith(CLUSTER))
      .map((id) => id.slice(CLUSTER.length))
    const ofTokens = changed.filter((id) => !id.startsWith(CLUSTER))
    const update = {
      version: text,
      isWhole: false,
      records: ofTokens.flatMap((id) => this.read(id) ?? []),
      removed: ofTokens.filter((id) => this.read(id) === undefined),
      clusters: ofClusters.flatMap((id) => this.readCluster(id) ?? []),
      removedClusters: ofClusters.filter((id) => this.readCluster(id) === undefined),
    }
    return { version: text, messages: [formatTokenUpdate(update)] }
  }

  private read(id: string): TokenRecord | undefined {
    const [row] = this.sql.exec('SELECT record FROM tokens WHERE id = ?', id).toArray()
    return row && parseTokenRecord(String(row.record))
  }

  private readCluster(id: string): DirectoryEntry | undefined {
    const [row] = this.sql.exec('SELECT entry FROM clusters WHERE id = ?', id).toArray()
    return row && parseDirectoryEntry(String(row.entry))
  }

  private writeAll(records: ReadonlyMap<string, TokenRecord>, ids: readonly string[]): void {
    for (const id of ids) {
      const record = records.get(id)
      const text = record === undefined ? '' : formatTokenRecord(record)
      this.sql.exec('INSERT OR REPLACE INTO tokens VALUES (?, ?)', id, text)
    }
  }

  private update(record: TokenRecord): void {
    const text = formatTokenRecord(record)
    this.sql.exec('UPDATE tokens SET record = ? WHERE id = ?', text, record.id)
  }
}
