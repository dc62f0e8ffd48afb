/**
 * The tokens of clients in files. A broken line authorizes nobody.
 * @module
 */
import { isOtherList, replaceObjectsIn } from '../../gateway/access/object-tokens.ts'
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
import { FileHistory } from './file-history.ts'
import { Files } from './files.ts'
import { LineFile, type LineFileOptions } from './line-file.ts'

/** What the store needs beside the path. */
export type FileTokenStoreOptions = Omit<LineFileOptions, 'history'> & {
  /** Milliseconds since 1970 (default: the clock of the machine). */
  readonly now?: () => number
}

/** Creates the store; the first file is written with the first token. */
export function createFileTokenStore(
  path: string,
  { files = new Files(), now = Date.now, onBroken }: FileTokenStoreOptions,
): TokenStore {
  const form = { format: formatTokenRecord, parse: parseTokenRecord }
  const history = new FileHistory(path, files, now)
  const file = new LineFile(path, form, { files, history, onBroken })
  return {
    list: () => file.list(),
    add: (record) =>
      file.change(
        (records) => addTo(records, record),
        ({ kind }) => kind === 'added',
      ),
    addAll: (wanted) => file.change((records) => addAllTo(records, wanted), hasAdded),
    replace: (before, next) => file.change((records) => replaceIn(records, before, next), Boolean),
    remove: (id) => file.change((records) => records.delete(id), Boolean),
    replaceObjects: (cluster, wanted) =>
      file.change((records) => replaceObjectsIn(records, cluster, wanted), isOtherList),
    restore: async (atMs) => {
      const found = await file.restore(atMs)
      return found.kind === 'missing' ? found : { kind: 'restored', atMs: found.writtenMs }
    },
    noteUse: async (days) =>
      void (await file.change((records) => noteUseIn(records, days), Boolean)),
  }
}
