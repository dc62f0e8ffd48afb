/**
 * The Durable Object with the tokens of clients: their single writer.
 * @module
 */
import { DurableObject } from 'cloudflare:workers'
import type { TokenRecord } from '../src/gateway/token.ts'
import { formatTokenRecord, parseTokenRecord } from '../src/gateway/token-store.ts'
import type { Env } from './env.ts'

/** Holds the tokens of one gateway. */
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

  /** Adds a record, or puts it in place of the one with its identifier. */
  put(record: TokenRecord): void {
    this.sql.exec(
      'INSERT OR REPLACE INTO tokens VALUES (?, ?)',
      record.id,
      formatTokenRecord(record),
    )
  }

  /** Removes a record; false when there is none. */
  remove(id: string): boolean {
    return this.sql.exec('DELETE FROM tokens WHERE id = ? RETURNING id', id).toArray().length > 0
  }
}
