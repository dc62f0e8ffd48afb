/**
 * Reads the files and folders that a Corefile names.
 * @module
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { CommandError, whyUnreadable } from './output.ts'

/** Maximum size of a file that a Corefile names. */
const FILE_BYTES_MAX = 64 * 1024 * 1024
/** Maximum size of a database, such as that of `geoip`. */
const DATABASE_BYTES_MAX = 1024 * 1024 * 1024

/** Bounds of a listed folder: depth of subfolders, and entries in all of them. */
const FOLDER_DEPTH_MAX = 16
const FOLDER_ENTRIES_MAX = 200_000

/** Reads a file; `undefined` when there is no such file, or it is over 64 MiB. */
export function readTextFile(path: string): string | undefined {
  return readFile(path, FILE_BYTES_MAX)?.toString('utf8')
}

/** Reads a file. @throws {CommandError} when there is no such file, or it is over 64 MiB */
export function requireTextFile(path: string): string {
  const text = readTextFile(path)
  if (text === undefined) throw new CommandError(`Cannot read ${path}: ${whyUnreadable(path)}`)
  return text
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

/** Returns a file's modification time in ms since 1970; `undefined` if it does not exist. */
export function modifiedMs(path: string): number | undefined {
  try {
    return statSync(path).mtimeMs
  } catch {
    return undefined
  }
}

/**
 * Returns the sorted paths of all files below a folder; `undefined` if the folder cannot be read.
 * Does not follow symbolic links to folders, which could form a cycle.
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
