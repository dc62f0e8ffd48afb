/**
 * The database of a Durable Object that fails, for `store-faults.ts`.
 * @module
 */
import { type SqlDatabase, SqlStore } from '../../worker/sql-store.ts'
import { flip, Gate } from '../gateway/faulty-media.ts'
import type { Fault, Medium } from '../gateway/store-faults.ts'

const MESSAGES: Readonly<Record<Exclude<Fault, 'hang'>, string>> = {
  error: 'disk I/O error: SQLITE_IOERR',
  full: 'database or disk is full: SQLITE_FULL',
  'read-only': 'attempt to write a readonly database: SQLITE_READONLY',
  kill: 'the object was reset',
}
const TABLES = ['shards', 'manifests', 'pinned', 'counted', 'unlisted']

/** Empties the database. Its calls cannot hang, so calls of the object do. */
export function sqlMedium(storage: SqlDatabase): Medium {
  const { sql } = storage
  let fault: { readonly kind: Fault; left: number } | undefined
  const calls = new Gate()
  const exec: SqlDatabase['sql']['exec'] = (query, ...bindings) => {
    const isWrite = !query.startsWith('SELECT')
    if (fault !== undefined && fault.left-- <= 0 && fault.kind !== 'hang') {
      if (isWrite || fault.kind === 'error' || fault.kind === 'kill') {
        throw new Error(MESSAGES[fault.kind])
      }
    }
    return sql.exec(query, ...bindings)
  }
  const database: SqlDatabase = {
    sql: { exec },
    transactionSync: (act) => storage.transactionSync(act),
  }
  new SqlStore(database)
  for (const table of TABLES) sql.exec(`DELETE FROM ${table}`)
  return {
    open: () => new SqlStore(database),
    isOneProcess: false,
    fail: (kind, after) => {
      fault = { kind, left: after }
      if (kind === 'hang') calls.fail(kind, 0)
    },
    mayHang: () => calls.mayHang(),
    hangs: () => calls.hung > 0,
    heal: () => {
      fault = undefined
      calls.heal()
    },
    rot: async (random) => {
      const [table, key] = random(2) === 0 ? ['shards', 'sha256'] : ['manifests', 'generation']
      const rows = sql.exec(`SELECT ${key} AS key, bytes FROM ${table} ORDER BY key`).toArray()
      const { key: which = null, bytes } = rows[random(rows.length)] ?? {}
      if (!(bytes instanceof ArrayBuffer)) return
      const rotten = flip(new Uint8Array(bytes), random)
      const cut = random(3) === 0 ? rotten.slice(0, random(rotten.length)) : rotten
      sql.exec(`UPDATE ${table} SET bytes = ? WHERE ${key} = ?`, cut.buffer, which)
    },
    near: {
      origin: ({ readManifest, readShard }) => ({
        readManifest: () => calls.pass(false).then(readManifest),
        readShard: (sha256) => calls.pass(false).then(() => readShard(sha256)),
      }),
      writer: (writer) => writer,
    },
  }
}
