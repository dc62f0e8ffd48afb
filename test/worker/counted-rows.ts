/**
 * A database that counts the rows that statements read and write, as Cloudflare bills them.
 * @module
 */
import type { SqlDatabase } from '../../worker/sql-store.ts'

/** Rows read and written. */
export type RowCount = { readonly read: number; readonly written: number }

/** A database, and a function that runs a step and returns the rows that it takes. */
export type CountedDatabase = {
  readonly database: SqlDatabase
  readonly count: (step: () => Promise<unknown>) => Promise<RowCount>
}

/** Counts the rows of a database. */
export function countRows(storage: SqlDatabase): CountedDatabase {
  const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = []
  const exec: SqlDatabase['sql']['exec'] = (query, ...bindings) => {
    const cursor = storage.sql.exec<never>(query, ...bindings)
    cursors.push(cursor)
    return cursor
  }
  return {
    database: { sql: { exec }, transactionSync: (act) => storage.transactionSync(act) },
    count: async (step) => {
      cursors.length = 0
      await step()
      return {
        read: cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0),
        written: cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0),
      }
    },
  }
}
