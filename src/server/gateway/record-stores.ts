/**
 * The tokens of clients and the directory of clusters as lists of records. A broken line authorizes
 * nobody and is no cluster.
 * @module
 */
import {
  addAllEntries,
  addEntry,
  type ClusterDirectory,
  type DirectoryEntry,
  formatDirectoryEntry,
  parseDirectoryEntry,
  replaceEntry,
} from '../../gateway/access/cluster-directory.ts'
import { isOtherList, replaceObjectsIn } from '../../gateway/access/object-tokens.ts'
import type { TokenRecord } from '../../gateway/access/token.ts'
import {
  addAllTo,
  addTo,
  formatTokenRecord,
  hasAdded,
  noteUseIn,
  parseTokenRecord,
  replaceIn,
  type TokenStore,
} from '../../gateway/access/token-store.ts'
import type { LineFormat } from './record-lines.ts'
import type { RecordList } from './record-list.ts'

/** How a token is written. */
export const TOKEN_LINES: LineFormat<TokenRecord> = {
  format: formatTokenRecord,
  parse: parseTokenRecord,
}

/** How a cluster of the directory is written. */
export const DIRECTORY_LINES: LineFormat<DirectoryEntry> = {
  format: formatDirectoryEntry,
  parse: parseDirectoryEntry,
}

/** Creates the store of tokens over a list. */
export function createRecordTokenStore(tokens: RecordList<TokenRecord>): TokenStore {
  return {
    list: () => tokens.list(),
    add: (record) =>
      tokens.change(
        (records) => addTo(records, record),
        ({ kind }) => kind === 'added',
      ),
    addAll: (wanted) => tokens.change((records) => addAllTo(records, wanted), hasAdded),
    replace: (before, next) =>
      tokens.change((records) => replaceIn(records, before, next), Boolean),
    remove: (id) => tokens.change((records) => records.delete(id), Boolean),
    replaceObjects: (cluster, wanted) =>
      tokens.change((records) => replaceObjectsIn(records, cluster, wanted), isOtherList),
    restore: async (atMs) => {
      const found = await tokens.restore(atMs)
      return found.kind === 'missing' ? found : { kind: 'restored', atMs: found.writtenMs }
    },
    noteUse: async (days) =>
      void (await tokens.change((records) => noteUseIn(records, days), Boolean)),
  }
}

/** Creates the directory over a list. */
export function createRecordDirectory(clusters: RecordList<DirectoryEntry>): ClusterDirectory {
  return {
    list: () => clusters.list(),
    add: (entry) =>
      clusters.change(
        (entries) => addEntry(entries, entry),
        (addition) => addition === 'added',
      ),
    addAll: (wanted) =>
      clusters.change(
        (entries) => addAllEntries(entries, wanted),
        ({ added }) => added.length > 0,
      ),
    replace: (before, next) =>
      clusters.change((entries) => replaceEntry(entries, before, next), Boolean),
    remove: (id) => clusters.change((entries) => entries.delete(id), Boolean),
  }
}
