/**
 * A cluster's snapshots in the SQLite database of a Durable Object.
 * @module
 */
import type { ClusterStore, StoredManifest } from '../src/gateway/store.ts'
import { StoreError } from '../src/gateway/store-error.ts'

/** Bytes in one row: a row may have two million. */
const PART_BYTES = 1024 * 1024

/** The part of an object's storage that is used. */
export type SqlDatabase = {
  readonly sql: Pick<SqlStorage, 'exec'>
  readonly transactionSync: (act: () => void) => void
}

/** Creates the store, and its tables if there are none. */
export function createSqlStore(storage: SqlDatabase): ClusterStore {
  const { sql } = storage
  sql.exec(`CREATE TABLE IF NOT EXISTS shards (
    sha256 TEXT NOT NULL, part INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (sha256, part))`)
  sql.exec(`CREATE TABLE IF NOT EXISTS manifests (
    generation INTEGER PRIMARY KEY, bytes BLOB NOT NULL, signature TEXT NOT NULL)`)
  sql.exec(`CREATE TABLE IF NOT EXISTS pinned (
    id INTEGER PRIMARY KEY CHECK (id = 1), generation INTEGER NOT NULL)`)
  const columns = sql.exec('PRAGMA table_info(shards)').toArray()
  // Databases of earlier builds have no times.
  if (!columns.some(({ name }) => name === 'writtenMs')) {
    sql.exec('ALTER TABLE shards ADD COLUMN writtenMs INTEGER NOT NULL DEFAULT 0')
  }
  return {
    readManifest: () => {
      const [pin] = sql.exec('SELECT generation FROM pinned').toArray()
      const newest =
        'SELECT generation, bytes, signature FROM manifests ORDER BY generation DESC LIMIT 1'
      const chosen = 'SELECT generation, bytes, signature FROM manifests WHERE generation = ?'
      const found = pin === undefined ? sql.exec(newest) : sql.exec(chosen, pin.generation)
      const [row] = found.toArray()
      if (row === undefined) return Promise.resolve(undefined)
      const manifest = toManifest(row)
      return Promise.resolve(pin === undefined ? manifest : { ...manifest, isPinned: true })
    },
    readManifests: () => {
      const query = 'SELECT generation, bytes, signature FROM manifests ORDER BY generation DESC'
      return Promise.resolve(sql.exec(query).toArray().map(toManifest))
    },
    readShard: (sha256) => {
      const query = 'SELECT bytes FROM shards WHERE sha256 = ? ORDER BY part'
      const parts = sql
        .exec(query, sha256)
        .toArray()
        .map((row) => toBytes(row.bytes))
      return Promise.resolve(parts.length === 0 ? undefined : join(parts))
    },
    missingShards: (sha256s) => {
      const [only] = sha256s
      if (sha256s.length === 1 && only !== undefined) {
        const query = 'SELECT 1 FROM shards WHERE sha256 = ? AND part = 0'
        return Promise.resolve(sql.exec(query, only).toArray().length > 0 ? [] : [only])
      }
      const known = new Set(
        sql
          .exec('SELECT sha256 FROM shards WHERE part = 0')
          .toArray()
          .map((row) => row.sha256),
      )
      return Promise.resolve(sha256s.filter((sha256) => !known.has(sha256)))
    },
    writeShard: (sha256, bytes, nowMs) =>
      change(storage, () => {
        sql.exec('DELETE FROM shards WHERE sha256 = ?', sha256)
        for (let part = 0; part * PART_BYTES < bytes.length; part++) {
          const piece = bytes.slice(part * PART_BYTES, (part + 1) * PART_BYTES)
          const insert = 'INSERT INTO shards VALUES (?, ?, ?, ?)'
          sql.exec(insert, sha256, part, piece.buffer, nowMs)
        }
      }),
    unlistedShards: (listed) => {
      const query = `SELECT sha256, SUM(LENGTH(bytes)) AS size, MIN(writtenMs) AS writtenMs
        FROM shards GROUP BY sha256`
      const rows = sql.exec(query).toArray()
      const all = rows.map(({ sha256, size, writtenMs }) => ({
        sha256: String(sha256),
        bytes: Number(size),
        writtenMs: Number(writtenMs),
      }))
      return Promise.resolve(all.filter(({ sha256 }) => !listed.has(sha256)))
    },
    dropShards: (sha256s) =>
      change(storage, () => {
        for (const sha256 of sha256s) sql.exec('DELETE FROM shards WHERE sha256 = ?', sha256)
      }),
    writeManifest: (generation, { bytes, signature }, kept) =>
      change(storage, () => {
        for (const row of sql.exec('SELECT generation FROM manifests').toArray()) {
          if (kept.generations.has(Number(row.generation))) continue
          sql.exec('DELETE FROM manifests WHERE generation = ?', row.generation)
        }
        const insert = 'INSERT OR REPLACE INTO manifests VALUES (?, ?, ?)'
        sql.exec(insert, generation, bytes.slice().buffer, signature)
      }),
    pin: (generation) => Promise.resolve(pin(sql, generation)),
  }
}

/** Changes all or nothing. */
async function change(storage: SqlDatabase, act: () => void): Promise<void> {
  try {
    storage.transactionSync(act)
  } catch (error) {
    const [code = 'SQLITE_ERROR'] = /SQLITE_[A-Z]+/.exec(String(error)) ?? []
    throw new StoreError(code, error)
  }
}

function pin(sql: SqlDatabase['sql'], generation: number | undefined): boolean {
  if (generation === undefined) {
    sql.exec('DELETE FROM pinned')
    return true
  }
  const query = 'SELECT 1 FROM manifests WHERE generation = ?'
  if (sql.exec(query, generation).toArray().length === 0) return false
  sql.exec('INSERT OR REPLACE INTO pinned VALUES (1, ?)', generation)
  return true
}

function toManifest(row: Record<string, SqlStorageValue>): StoredManifest {
  const generation = Number(row.generation)
  return { generation, bytes: toBytes(row.bytes), signature: String(row.signature) }
}

function toBytes(value: SqlStorageValue | undefined): Uint8Array {
  return value instanceof ArrayBuffer ? new Uint8Array(value) : new Uint8Array(0)
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
