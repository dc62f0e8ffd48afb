/**
 * The Durable Object with the lines of the audit log, which no sampling of the platform's logs
 * reaches.
 * @module
 */
import { DurableObject } from 'cloudflare:workers'
import type { AuditLine, AuditQuery, StoredAuditLine } from '../src/gateway/access/audit.ts'

/** Most lines of each kind of operator: requests of one push no lines of another out. */
const LINES_MAX = 20_000
/** How long a line is kept: a year and a month. */
const KEEP_MS = 396 * 24 * 3600 * 1000

/** The audit log of one gateway. */
export class AuditObject extends DurableObject<object> {
  private readonly sql: SqlStorage

  constructor(state: DurableObjectState, env: object) {
    super(state, env)
    this.sql = state.storage.sql
    // `place` counts the lines of one operator, so that the bound is checked without counting rows.
    this.sql.exec(
      'CREATE TABLE IF NOT EXISTS lines (number INTEGER PRIMARY KEY, time INTEGER NOT NULL, ' +
        'operator TEXT NOT NULL, place INTEGER NOT NULL, text TEXT NOT NULL, ' +
        'UNIQUE (operator, place))',
    )
  }

  /** Adds a line, and removes those beyond the bounds. Synchronous, so places stay unique. */
  add({ timeMs, operator, text }: AuditLine): void {
    const newest = 'SELECT MAX(place) AS place FROM lines WHERE operator = ?'
    const [row] = this.sql.exec(newest, operator).toArray()
    const place = Number(row?.place ?? 0) + 1
    const insert = 'INSERT INTO lines (time, operator, place, text) VALUES (?, ?, ?, ?)'
    this.sql.exec(insert, timeMs, operator, place, text)
    const overflow = 'DELETE FROM lines WHERE operator = ? AND place <= ?'
    this.sql.exec(overflow, operator, place - LINES_MAX)
    // Lines are in the order of time, so that this reads the expired ones and one more.
    const oldest = 'SELECT number FROM lines WHERE time >= ? ORDER BY number LIMIT 1'
    this.sql.exec(`DELETE FROM lines WHERE number < (${oldest})`, timeMs - KEEP_MS)
  }

  /** Lists lines, the oldest first. */
  list({ after, sinceMs, limit }: AuditQuery): readonly StoredAuditLine[] {
    const query =
      'SELECT number, time, operator, text FROM lines WHERE number > ? AND time >= ? ' +
      'ORDER BY number LIMIT ?'
    const rows = this.sql.exec(query, after, sinceMs, limit).toArray()
    return rows.map(({ number, time, operator, text }) => ({
      number: Number(number),
      timeMs: Number(time),
      operator: String(operator),
      text: String(text),
    }))
  }
}
