/**
 * The Durable Object with the client tokens: their single writer.
 * @module
 */
import { DurableObject } from 'cloudflare:workers'
import type { TokenRecord } from '../src/gateway/access/token.ts'
import {
  type Addition,
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

/** The tokens of one gateway. */
export class TokenObject extends DurableObject<object> {
  private readonly sql: SqlStorage
  private readonly followers: Followers

  constructor(state: DurableObjectState, env: object) {
    super(state, env)
    this.sql = state.storage.sql
    this.sql.exec('CREATE TABLE IF NOT EXISTS tokens (id TEXT PRIMARY KEY, record TEXT NOT NULL)')
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

  /** Returns to the database of a time: see {@link startAgainAt}. */
  restore(atMs: number): Promise<string> {
    return startAgainAt(this.ctx, atMs)
  }

  /** Sends the whole list to each follower, as a new version. */
  noteRestored(): void {
    this.sql.exec('DELETE FROM changes')
    this.note('')
  }

  /** Notes a change of a token for its followers. Days of use are no such change. */
  private note(id: string): void {
    // After a restore to a point in time, no version comes again.
    const next = Math.max(this.version() + 1, Date.now())
    this.sql.exec('INSERT INTO changes VALUES (?, ?)', next, id)
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
      const update = { version: text, isWhole: true, records: this.list(), removed: [] }
      return { version: text, messages: [formatTokenUpdate(update)] }
    }
    const rows = this.sql.exec('SELECT DISTINCT id FROM changes WHERE version > ?', known).toArray()
    const found = rows.map(({ id }) => ({ id: String(id), record: this.read(String(id)) }))
    const records = found.flatMap(({ record }) => record ?? [])
    const removed = found.filter(({ record }) => record === undefined).map(({ id }) => id)
    const update = { version: text, isWhole: false, records, removed }
    return { version: text, messages: [formatTokenUpdate(update)] }
  }

  private read(id: string): TokenRecord | undefined {
    const [row] = this.sql.exec('SELECT record FROM tokens WHERE id = ?', id).toArray()
    return row && parseTokenRecord(String(row.record))
  }

  private update(record: TokenRecord): void {
    const text = formatTokenRecord(record)
    this.sql.exec('UPDATE tokens SET record = ? WHERE id = ?', text, record.id)
  }
}
