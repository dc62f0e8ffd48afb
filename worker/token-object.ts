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
  noteUseIn,
  parseTokenRecord,
  type TokenDays,
} from '../src/gateway/access/token-store.ts'

/** The tokens of one gateway. */
export class TokenObject extends DurableObject<object> {
  private readonly sql: SqlStorage

  constructor(state: DurableObjectState, env: object) {
    super(state, env)
    this.sql = state.storage.sql
    this.sql.exec('CREATE TABLE IF NOT EXISTS tokens (id TEXT PRIMARY KEY, record TEXT NOT NULL)')
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
    }
    return addition
  }

  /** Replaces a record, if it is unchanged; synchronous too. */
  replace(before: TokenRecord, next: TokenRecord): boolean {
    const isSame = equalRecords(this.read(before.id), before)
    if (isSame) this.update(next)
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
    return this.sql.exec('DELETE FROM tokens WHERE id = ? RETURNING id', id).toArray().length > 0
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
