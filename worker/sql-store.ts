/**
 * A cluster's snapshots in the SQLite database of a Durable Object, which has no other writer. The
 * table `unlisted` has the shards that no manifest lists, and `counted` the generation up to which
 * it is right and all listed shards are known to be there: so nothing looks at all shards, not even
 * an object that has just started. Without that generation (a database of an earlier build, or a
 * listed shard was lost), the next change looks at all shards and counts them again.
 * @module
 */
import { concatBytes, EMPTY } from '../src/dns/bytes/bytes.ts'
import {
  type ClusterStore,
  type KeptGenerations,
  type StoredManifest,
  StoreError,
} from '../src/gateway/snapshots/store.ts'

/** Bytes in one row: a row may have two million. */
const PART_BYTES = 1024 * 1024
/** More shards than this are looked for by reading all hashes. */
const LOOKUPS_MAX = 100

/** The part of an object's storage that is used. */
export type SqlDatabase = {
  readonly sql: Pick<SqlStorage, 'exec'>
  readonly transactionSync: <T>(act: () => T) => T
}

const MANIFESTS = 'SELECT generation, bytes, signature FROM manifests'
const SHARDS = `SELECT sha256, SUM(LENGTH(bytes)) AS bytes, MIN(writtenMs) AS writtenMs
  FROM shards`

/** The store. */
export class SqlStore implements ClusterStore {
  private readonly storage: SqlDatabase
  /** The newest manifests, as many as were read. */
  private newest: readonly StoredManifest[] = []
  /** Whether these are all. */
  private hasAll = false
  /** The generation up to which shards are counted; `null` for none, `undefined` before a look. */
  private counted: number | null | undefined
  /** Listed shards that were removed, as corrupt, since they were counted. */
  private lost = new Set<string>()

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
    sql.exec(`CREATE TABLE IF NOT EXISTS counted (
      id INTEGER PRIMARY KEY CHECK (id = 1), generation INTEGER NOT NULL)`)
    sql.exec(`CREATE TABLE IF NOT EXISTS unlisted (
      sha256 TEXT PRIMARY KEY, bytes INTEGER NOT NULL, writtenMs INTEGER NOT NULL
    ) WITHOUT ROWID`)
    // Databases of earlier builds have no times.
    if (!this.rows('PRAGMA table_info(shards)').some(({ name }) => name === 'writtenMs')) {
      sql.exec('ALTER TABLE shards ADD COLUMN writtenMs INTEGER NOT NULL DEFAULT 0')
    }
  }

  readonly readManifest: ClusterStore['readManifest'] = async () => {
    const [pin] = this.rows('SELECT generation FROM pinned')
    if (pin === undefined) {
      this.load(1)
      return this.newest[0]
    }
    const [row] = this.rows(`${MANIFESTS} WHERE generation = ?`, Number(pin.generation))
    return row && { ...toManifest(row), isPinned: true }
  }

  readonly readManifests: ClusterStore['readManifests'] = async (countMax) => {
    this.load(countMax)
    const counted = this.findCounted()
    const [first, ...older] = this.newest.slice(0, countMax)
    const isWhole = first?.generation === counted
    return first === undefined ? [] : [isWhole ? { ...first, isWhole } : first, ...older]
  }

  readonly readShard: ClusterStore['readShard'] = async (sha256) => {
    const parts = this.rows('SELECT bytes FROM shards WHERE sha256 = ? ORDER BY part', sha256)
    return parts.length === 0 ? undefined : concatBytes(...parts.map(({ bytes }) => toBytes(bytes)))
  }

  readonly missingShards: ClusterStore['missingShards'] = async (sha256s) => {
    const query = 'SELECT sha256 FROM shards WHERE part = 0'
    const rows =
      sha256s.length <= LOOKUPS_MAX
        ? sha256s.flatMap((sha256) => this.rows(`${query} AND sha256 = ?`, sha256))
        : this.rows(query)
    const known = new Set(rows.map(({ sha256 }) => sha256))
    return sha256s.filter((sha256) => !known.has(sha256))
  }

  readonly writeShard: ClusterStore['writeShard'] = async (sha256, bytes, nowMs) => {
    this.change((sql) => {
      sql.exec('DELETE FROM shards WHERE sha256 = ?', sha256)
      for (let part = 0; part * PART_BYTES < bytes.length; part++) {
        const piece = bytes.slice(part * PART_BYTES, (part + 1) * PART_BYTES)
        sql.exec('INSERT INTO shards VALUES (?, ?, ?, ?)', sha256, part, piece.buffer, nowMs)
      }
      sql.exec('INSERT OR REPLACE INTO unlisted VALUES (?, ?, ?)', sha256, bytes.length, nowMs)
    })
    this.lost.delete(sha256)
  }

  readonly unlistedShards: ClusterStore['unlistedShards'] = async (listed) =>
    this.rows(
      this.isCounted()
        ? 'SELECT sha256, bytes, writtenMs FROM unlisted'
        : `${SHARDS} GROUP BY sha256`,
    )
      .map(({ sha256, bytes, writtenMs }) => ({
        sha256: String(sha256),
        bytes: Number(bytes),
        writtenMs: Number(writtenMs),
      }))
      .filter(({ sha256 }) => !listed.has(sha256))

  readonly dropShards: ClusterStore['dropShards'] = async (sha256s) => {
    const isCounted = this.isCounted()
    const lost = this.change((sql) => {
      const listed = sha256s.filter((sha256) => {
        sql.exec('DELETE FROM shards WHERE sha256 = ?', sha256)
        const removed = 'DELETE FROM unlisted WHERE sha256 = ? RETURNING sha256'
        return sql.exec(removed, sha256).toArray().length === 0
      })
      if (isCounted && listed.length > 0) sql.exec('DELETE FROM counted')
      return listed
    })
    for (const sha256 of lost) this.lost.add(sha256)
    if (lost.length > 0) this.counted = null
  }

  readonly writeManifest: ClusterStore['writeManifest'] = async (generation, manifest, kept) => {
    const { bytes, signature } = manifest
    const isCounted = this.isCounted()
    this.load(kept === undefined ? 1 : undefined)
    const isKept = (one: number): boolean => kept === undefined || kept.generations.has(one)
    const counted = this.change((sql) => {
      for (const one of this.newest) {
        if (isKept(one.generation)) continue
        sql.exec('DELETE FROM manifests WHERE generation = ?', one.generation)
      }
      const insert = 'INSERT OR REPLACE INTO manifests VALUES (?, ?, ?)'
      sql.exec(insert, generation, bytes.slice().buffer, signature)
      return kept === undefined ? this.counted : this.count(generation, kept, isCounted)
    })
    this.counted = counted
    if (counted === generation) this.lost.clear()
    const stored = { generation, signature, bytes: bytes.slice() }
    const others = this.newest.filter((one) => one.generation !== generation)
    this.newest = [stored, ...others.filter((one) => isKept(one.generation))].sort(
      (a, b) => b.generation - a.generation,
    )
  }

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

  /** Reads all manifests, or the newest ones, unless they are known. */
  private load(countMax: number | undefined): void {
    if (this.hasAll || (countMax !== undefined && countMax <= this.newest.length)) return
    const sorted = `${MANIFESTS} ORDER BY generation DESC`
    this.newest =
      countMax === undefined
        ? this.rows(sorted).map(toManifest)
        : this.rows(`${sorted} LIMIT ?`, countMax).map(toManifest)
    this.hasAll = countMax === undefined
  }

  private findCounted(): number | null {
    if (this.counted === undefined) {
      const [row] = this.rows('SELECT generation FROM counted')
      this.counted = row === undefined ? null : Number(row.generation)
    }
    return this.counted
  }

  /** Whether `unlisted` is right: an earlier build, after a rollback, does not keep it so. */
  private isCounted(): boolean {
    this.load(1)
    const [newest] = this.newest
    return newest !== undefined && newest.generation === this.findCounted()
  }

  /**
   * Brings `unlisted` in step with the generations to keep.
   * @returns the generation up to which it is now
   */
  private count(
    generation: number,
    { listed, delisted = [], broken }: KeptGenerations,
    isCounted: boolean,
  ): number | null {
    const { sql } = this.storage
    const lacks = [...this.lost].some((sha256) => listed?.has(sha256))
    if (listed === undefined || lacks) {
      sql.exec('DELETE FROM counted')
      return null
    }
    const add = `INSERT OR IGNORE INTO unlisted ${SHARDS}`
    // A broken manifest does not say what it listed.
    const isStep = isCounted && (broken === undefined || broken.size === 0)
    if (!isStep) sql.exec(`${add} GROUP BY sha256`)
    else for (const one of delisted) sql.exec(`${add} WHERE sha256 = ? GROUP BY sha256`, one)
    for (const { sha256 } of this.rows('SELECT sha256 FROM unlisted')) {
      if (!listed.has(String(sha256))) continue
      sql.exec('DELETE FROM unlisted WHERE sha256 = ?', sha256)
    }
    sql.exec('INSERT OR REPLACE INTO counted VALUES (1, ?)', generation)
    return generation
  }

  private rows(query: string, ...values: (string | number)[]): Record<string, SqlStorageValue>[] {
    return this.storage.sql.exec(query, ...values).toArray()
  }

  /** Changes all or nothing. @throws {StoreError} with SQLite's error code */
  private change<T>(act: (sql: SqlDatabase['sql']) => T): T {
    try {
      return this.storage.transactionSync(() => act(this.storage.sql))
    } catch (error) {
      this.newest = []
      this.hasAll = false
      this.counted = undefined
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
