/**
 * The folder of a gateway's stores, checked at the start: the exporter's first upload would be a
 * late place for an error.
 * @module
 */
import { accessSync, constants, mkdirSync } from 'node:fs'
import { fileReason } from '../../dns/bytes/unknown.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import { FOLDER_MODE } from './files.ts'

const { R_OK, W_OK, X_OK } = constants

/**
 * Creates the folder if it is missing. Returns why it cannot be written, or `undefined` if it can.
 * A gateway also serves the snapshots of a read-only folder.
 * @param access `accessSync` of `node:fs`; tests pass one that fails
 * @throws {Error} of the file system if there is no such folder, or it cannot be read
 */
export function prepareStoreFolder(
  folder: string,
  access: (path: string, mode: number) => void = accessSync,
): string | undefined {
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE })
  access(folder, R_OK | X_OK)
  try {
    access(folder, W_OK)
    return undefined
  } catch (error) {
    return fileReason(error)
  }
}

/**
 * Logs that a store can only be read, for now.
 * @param store as `--store` has it
 */
export function warnUnwritable(log: Log, store: string, reason: string): void {
  const effect = 'names are answered from what it has, publications and changes are refused'
  log({ level: 'warning', message: `--store ${store} cannot be written: ${effect}`, reason })
}
