/**
 * A cluster's snapshots in the SQLite database of a Durable Object.
 * @module
 */
import type { ClusterStore } from '../src/gateway/store.ts'

/** Octets in one row: a row may have two million. */
const PART_BYTES = 1024 * 1024

/** Makes the store, and its tables when they are not there. */
export function createSqlStore(storage: DurableObjectStorage): ClusterStore {
  const { sql } = storage
  sql.exec(`CREATE TABLE IF NOT EXISTS shards (
    sha256 TEXT NOT NULL, part INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (sha256, part))`)
  sql.exec(`CREATE TABLE IF NOT EXISTS manifest (
    id INTEGER PRIMARY KEY CHECK (id = 1), bytes BLOB NOT NULL, signature TEXT NOT NULL)`)
  return {
    readManifest: () => {
      const [row] = sql.exec('SELECT bytes, signature FROM manifest').toArray()
      if (row === undefined) return Promise.resolve(undefined)
      return Promise.resolve({ bytes: toBytes(row.bytes), signature: String(row.signature) })
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
    writeShard: (sha256, bytes) => {
      storage.transactionSync(() => {
        for (let part = 0; part * PART_BYTES < bytes.length; part++) {
          const piece = bytes.slice(part * PART_BYTES, (part + 1) * PART_BYTES)
          sql.exec('INSERT OR REPLACE INTO shards VALUES (?, ?, ?)', sha256, part, piece.buffer)
        }
      })
      return Promise.resolve()
    },
    writeManifest: ({ bytes, signature }, keptShards) => {
      const dropped: string[] = []
      storage.transactionSync(() => {
        const copy = bytes.slice()
        sql.exec('INSERT OR REPLACE INTO manifest VALUES (1, ?, ?)', copy.buffer, signature)
        for (const { sha256 } of sql.exec('SELECT DISTINCT sha256 FROM shards').toArray()) {
          if (keptShards.has(String(sha256))) continue
          sql.exec('DELETE FROM shards WHERE sha256 = ?', sha256)
          dropped.push(String(sha256))
        }
      })
      return Promise.resolve(dropped)
    },
  }
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
