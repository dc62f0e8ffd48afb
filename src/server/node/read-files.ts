/**
 * Reads the files and folders that a Corefile names.
 * @module
 */
import { readFileSync, type Stats, statSync } from 'node:fs'
import { readdir, readFile as readFileInPieces, stat } from 'node:fs/promises'
import { devNull } from 'node:os'
import { resolve } from 'node:path'
import type { FileState } from '../../resolver/contract/host.ts'
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
    return isReadable(path, statSync(path), bytesMax) ? readFileSync(path) : undefined
  } catch {
    return undefined
  }
}

/**
 * Reads a file by the threads of the file system, in pieces, so that queries do not wait.
 * @throws {CommandError} with the reason when there is no such file, or it is over 64 MiB
 */
export async function loadFile(path: string): Promise<Uint8Array> {
  try {
    if (isReadable(path, await stat(path), FILE_BYTES_MAX)) return await readFileInPieces(path)
  } catch {
    // `whyUnreadable` looks again.
  }
  throw new CommandError(whyUnreadable(path))
}

/** Returns whether reading ends; /dev/null stands for an empty file, as in `hosts /dev/null`. */
function isReadable(path: string, info: Stats, bytesMax: number): boolean {
  return path === devNull || (info.isFile() && info.size <= bytesMax)
}

/** Returns when a file was written last, and its size; `undefined` if it does not exist. */
export function fileState(path: string): FileState | undefined {
  try {
    const { mtimeMs: modifiedMs, size: bytes } = statSync(path)
    return { modifiedMs, bytes }
  } catch {
    return undefined
  }
}

/**
 * Returns the sorted paths of all files below a folder; `undefined` if the folder cannot be read.
 * Does not follow symbolic links to folders, which could form a cycle.
 */
export async function listFiles(base: string, path: string): Promise<string[] | undefined> {
  const found: string[] = []
  let entries = 0
  const walk = async (folder: string, depth: number): Promise<boolean> => {
    if (depth > FOLDER_DEPTH_MAX) return true
    const listing = readdir(resolve(base, folder), { withFileTypes: true })
    const listed = await listing.catch(() => undefined)
    if (listed === undefined) return false
    for (const entry of listed.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (++entries > FOLDER_ENTRIES_MAX) return true
      const inside = `${folder}/${entry.name}`
      if (entry.isDirectory()) await walk(inside, depth + 1)
      else found.push(inside)
    }
    return true
  }
  return (await walk(path, 0)) ? found : undefined
}
