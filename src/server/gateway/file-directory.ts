/**
 * The directory of clusters in files. A broken line is no cluster.
 * @module
 */
import {
  addAllEntries,
  addEntry,
  type ClusterDirectory,
  formatDirectoryEntry,
  parseDirectoryEntry,
  replaceEntry,
} from '../../gateway/access/cluster-directory.ts'
import { LineFile, type LineFileOptions } from './line-file.ts'

/** Creates the directory; the first file is written with the first cluster. */
export function createFileDirectory(path: string, options: LineFileOptions): ClusterDirectory {
  const form = { format: formatDirectoryEntry, parse: parseDirectoryEntry }
  const file = new LineFile(path, form, options)
  return {
    list: () => file.list(),
    add: (entry) =>
      file.change(
        (entries) => addEntry(entries, entry),
        (addition) => addition === 'added',
      ),
    addAll: (wanted) =>
      file.change(
        (entries) => addAllEntries(entries, wanted),
        ({ added }) => added.length > 0,
      ),
    replace: (before, next) =>
      file.change((entries) => replaceEntry(entries, before, next), Boolean),
    remove: (id) => file.change((entries) => entries.delete(id), Boolean),
  }
}
