/**
 * The tokens of clients in files. A broken line authorizes nobody.
 * @module
 */
import {
  addTo,
  formatTokenRecord,
  noteUseIn,
  parseTokenRecord,
  replaceIn,
  type TokenStore,
} from '../../gateway/access/token-store.ts'
import { LineFile, type LineFileOptions } from './line-file.ts'

/** Creates the store; the first file is written with the first token. */
export function createFileTokenStore(path: string, options: LineFileOptions): TokenStore {
  const form = { format: formatTokenRecord, parse: parseTokenRecord }
  const file = new LineFile(path, form, options)
  return {
    list: () => file.list(),
    add: (record) =>
      file.change(
        (records) => addTo(records, record),
        ({ kind }) => kind === 'added',
      ),
    replace: (before, next) => file.change((records) => replaceIn(records, before, next), Boolean),
    remove: (id) => file.change((records) => records.delete(id), Boolean),
    noteUse: async (days) =>
      void (await file.change((records) => noteUseIn(records, days), Boolean)),
  }
}
