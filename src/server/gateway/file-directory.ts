/**
 * The directory of clusters in files.
 * @module
 */
import type { ClusterDirectory } from '../../gateway/access/cluster-directory.ts'
import { FileVersions, type LineFileOptions } from './line-file.ts'
import { RecordList } from './record-list.ts'
import { createRecordDirectory, DIRECTORY_LINES } from './record-stores.ts'

/** Creates the directory; the first file is written with the first cluster. */
export function createFileDirectory(path: string, options: LineFileOptions): ClusterDirectory {
  return createRecordDirectory(new RecordList(new FileVersions(path, DIRECTORY_LINES, options)))
}
