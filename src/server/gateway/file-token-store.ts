/**
 * The tokens of clients in files.
 * @module
 */
import type { TokenStore } from '../../gateway/access/token-store.ts'
import { FileHistory } from './file-history.ts'
import { Files } from './files.ts'
import { FileVersions, type LineFileOptions } from './line-file.ts'
import { RecordList } from './record-list.ts'
import { createRecordTokenStore, TOKEN_LINES } from './record-stores.ts'

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
  const history = new FileHistory(path, files, now)
  const versions = new FileVersions(path, TOKEN_LINES, { files, history, onBroken })
  return createRecordTokenStore(new RecordList(versions))
}
