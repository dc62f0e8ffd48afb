/**
 * Reads the files and folders that a Corefile names.
 * @module
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'

/** Bytes of a file that a Corefile names. */
const FILE_BYTES_MAX = 64 * 1024 * 1024
/** Bytes of a database, such as that of `geoip`. */
const DATABASE_BYTES_MAX = 1024 * 1024 * 1024

/** Depth of folders within a listed folder, and entries in all of them. */
const FOLDER_DEPTH_MAX = 16
const FOLDER_ENTRIES_MAX = 200_000

/** Reads a file; `undefined` when there is no such file, or it is over 64 MiB. */
export function readTextFile(path: string): string | undefined {
  return readFile(path, FILE_BYTES_MAX)?.toString('utf8')
}

/** Reads a database; `undefined` when there is no such file, or it is over 1 GiB. */
export function readDatabase(path: string): Uint8Array | undefined {
  return readFile(path, DATABASE_BYTES_MAX)
}

function readFile(path: string, bytesMax: number): Buffer | undefined {
  try {
    const info = statSync(path)
    return info.isFile() && info.size <= bytesMax ? readFileSync(path) : undefined
  } catch {
    return undefined
  }
}

/** Returns when a file was last written, in ms since 1970; `undefined` without such a file. */
export function modifiedMs(path: string): number | undefined {
  try {
    return statSync(path).mtimeMs
  } catch {
    return undefined
  }
}

/**
 * Returns the paths of all files below a folder, sorted; `undefined` for none. Does not
 * follow links to folders below it, so that it ends.
 */
export function listFiles(base: string, path: string): readonly string[] | undefined {
  const found: string[] = []
  let entries = 0
  const walk = (folder: string, depth: number): void => {
    if (depth > FOLDER_DEPTH_MAX) return
    const listed = readdirSync(resolve(base, folder), { withFileTypes: true })
    for (const entry of listed.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (++entries > FOLDER_ENTRIES_MAX) return
      const inside = `${folder}/${entry.name}`
      if (!entry.isDirectory()) found.push(inside)
      else walkQuietly(inside, depth + 1)
    }
  }
  const walkQuietly = (folder: string, depth: number): boolean => {
    try {
      walk(folder, depth)
      return true
    } catch {
      return false
    }
  }
  return walkQuietly(path, 0) ? found : undefined
}
