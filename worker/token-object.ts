/**
 * The Durable Object with the client tokens: their single writer.
 * @module
 */
import { DurableObject } from 'cloudflare:workers'
import type { TokenRecord } from '../src/gateway/token.ts'
import {
  type Addition,
  checkAddition,
  equalRecords,
  formatTokenRecord,
  parseTokenRecord,
} from '../src/gateway/token-store.ts'
import type { Env } from './env.ts'

/** The tokens of one gateway. */
export class TokenObject extends DurableObject<Env> {
  private readonly sql: SqlStorage

  constructor(state: DurableObjectState, env: Env) {
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
    const { id } = before
    const [row] = this.sql.exec('SELECT record FROM tokens WHERE id = ?', id).toArray()
    const isSame = row !== undefined && equalRecords(parseTokenRecord(String(row.record)), before)
    if (isSame) {
      this.sql.exec('UPDATE tokens SET record = ? WHERE id = ?', formatTokenRecord(next), id)
    }
    return isSame
  }

  /** Removes a record; false when there is none. */
  remove(id: string): boolean {
    return this.sql.exec('DELETE FROM tokens WHERE id = ? RETURNING id', id).toArray().length > 0
  }
}
