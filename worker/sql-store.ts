/**
 * A cluster's snapshots in the SQLite database of a Durable Object.
 * @module
 */
import { concatBytes, EMPTY } from '../src/dns/bytes/bytes.ts'
import {
  type ClusterStore,
  type StoredManifest,
  StoreError,
} from '../src/gateway/snapshots/store.ts'

/** Bytes in one row: a row may have two million. */
const PART_BYTES = 1024 * 1024

/** The part of an object's storage that is used. */
export type SqlDatabase = {
  readonly sql: Pick<SqlStorage, 'exec'>
  readonly transactionSync: (act: () => void) => void
}

const MANIFESTS = 'SELECT generation, bytes, signature FROM manifests'

/** The store. */
export class SqlStore implements ClusterStore {
  private readonly storage: SqlDatabase

  /** Creates the tables if there are none. */
  constructor(storage: SqlDatabase) {
    this.storage = storage
    const { sql } = storage
    sql.exec(`CREATE TABLE IF NOT EXISTS shards (
      sha256 TEXT NOT NULL, part INTEGER NOT NULL, bytes BLOB NOT NULL,
      PRIMARY KEY (sha256, part))`)
    sql.exec(`CREATE TABLE IF NOT EXISTS manifests (
      generation INTEGER PRIMARY KEY, bytes BLOB NOT NULL, signature TEXT NOT NULL)`)
    sql.exec(`CREATE TABLE IF NOT EXISTS pinned (
      id INTEGER PRIMARY KEY CHECK (id = 1), generation INTEGER NOT NULL)`)
    // Databases of earlier builds have no times.
    if (!this.rows('PRAGMA table_info(shards)').some(({ name }) => name === 'writtenMs')) {
      sql.exec('ALTER TABLE shards ADD COLUMN writtenMs INTEGER NOT NULL DEFAULT 0')
    }
  }

  readonly readManifest: ClusterStore['readManifest'] = async () => {
    const [pin] = this.rows('SELECT generation FROM pinned')
    const [row] =
      pin === undefined
        ? this.rows(`${MANIFESTS} ORDER BY generation DESC LIMIT 1`)
        : this.rows(`${MANIFESTS} WHERE generation = ?`, Number(pin.generation))
    return row && { ...toManifest(row), ...(pin && { isPinned: true }) }
  }

  readonly readManifests: ClusterStore['readManifests'] = async () =>
    this.rows(`${MANIFESTS} ORDER BY generation DESC`).map(toManifest)

  readonly readShard: ClusterStore['readShard'] = async (sha256) => {
    const parts = this.rows('SELECT bytes FROM shards WHERE sha256 = ? ORDER BY part', sha256)
    return parts.length === 0 ? undefined : concatBytes(...parts.map(({ bytes }) => toBytes(bytes)))
  }

  readonly missingShards: ClusterStore['missingShards'] = async (sha256s) => {
    const [only] = sha256s
    const query = 'SELECT sha256 FROM shards WHERE part = 0'
    const rows =
      only !== undefined && sha256s.length === 1
        ? this.rows(`${query} AND sha256 = ?`, only)
        : this.rows(query)
    const known = new Set(rows.map(({ sha256 }) => sha256))
    return sha256s.filter((sha256) => !known.has(sha256))
  }

  readonly writeShard: ClusterStore['writeShard'] = async (sha256, bytes, nowMs) =>
    this.change((sql) => {
      sql.exec('DELETE FROM shards WHERE sha256 = ?', sha256)
      for (let part = 0; part * PART_BYTES < bytes.length; part++) {
        const piece = bytes.slice(part * PART_BYTES, (part + 1) * PART_BYTES)
        sql.exec('INSERT INTO shards VALUES (?, ?, ?, ?)', sha256, part, piece.buffer, nowMs)
      }
    })

  readonly unlistedShards: ClusterStore['unlistedShards'] = async (listed) =>
    this.rows(
      `SELECT sha256, SUM(LENGTH(bytes)) AS size, MIN(writtenMs) AS writtenMs
        FROM shards GROUP BY sha256`,
    )
      .map(({ sha256, size, writtenMs }) => ({
        sha256: String(sha256),
        bytes: Number(size),
        writtenMs: Number(writtenMs),
      }))
      .filter(({ sha256 }) => !listed.has(sha256))

  readonly dropShards: ClusterStore['dropShards'] = async (sha256s) =>
    this.change((sql) => {
      for (const sha256 of sha256s) sql.exec('DELETE FROM shards WHERE sha256 = ?', sha256)
    })

  readonly writeManifest: ClusterStore['writeManifest'] = async (generation, manifest, kept) =>
    this.change((sql) => {
      for (const { generation: known } of this.rows('SELECT generation FROM manifests')) {
        if (kept.generations.has(Number(known))) continue
        sql.exec('DELETE FROM manifests WHERE generation = ?', known)
      }
      const { bytes, signature } = manifest
      const insert = 'INSERT OR REPLACE INTO manifests VALUES (?, ?, ?)'
      sql.exec(insert, generation, bytes.slice().buffer, signature)
    })

  readonly pin: ClusterStore['pin'] = async (generation) => {
    const { sql } = this.storage
    if (generation === undefined) {
      sql.exec('DELETE FROM pinned')
      return true
    }
    const isKept = this.rows('SELECT 1 FROM manifests WHERE generation = ?', generation).length > 0
    if (isKept) sql.exec('INSERT OR REPLACE INTO pinned VALUES (1, ?)', generation)
    return isKept
  }

  private rows(query: string, ...values: (string | number)[]): Record<string, SqlStorageValue>[] {
    return this.storage.sql.exec(query, ...values).toArray()
  }

  /** Changes all or nothing. @throws {StoreError} with SQLite's error code */
  private change(act: (sql: SqlDatabase['sql']) => void): void {
    try {
      this.storage.transactionSync(() => act(this.storage.sql))
    } catch (error) {
      const [code = 'SQLITE_ERROR'] = /SQLITE_[A-Z]+/.exec(String(error)) ?? []
      throw new StoreError(code, error)
    }
  }
}

function toManifest(row: Record<string, SqlStorageValue>): StoredManifest {
  const generation = Number(row.generation)
  return { generation, bytes: toBytes(row.bytes), signature: String(row.signature) }
}

function toBytes(value: SqlStorageValue | undefined): Uint8Array {
  return value instanceof ArrayBuffer ? new Uint8Array(value) : EMPTY
}
