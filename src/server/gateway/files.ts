/**
 * The files of stores: read and replaced as a whole, listed, removed, synced.
 * @module
 */
import { randomUUID } from 'node:crypto'
import * as nodeFiles from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StoreError } from '../../gateway/snapshots/store.ts'
import {
  type WholeFileOptions,
  type WritingFileSystem,
  writeWholeFile,
} from '../node/whole-file.ts'

/** Permissions of a store's folders: their owner's only. */
export const FOLDER_MODE = 0o700
/** Permissions of an empty file: its owner's only. */
const FILE_MODE = 0o600
/** Ends the name of a file that is being written. */
const TEMPORARY = '.tmp'
/** Files that are looked at at a time. */
const STATS_AT_ONCE = 64
/** A temporary file as old as this is no longer written: its process is dead. */
const LEFT_MS = 10 * 60 * 1000
/**
 * Some network file systems refuse to sync a folder; they order renames themselves. A folder that
 * does not exist has nothing to sync.
 */
const UNSYNCABLE: ReadonlySet<string> = new Set(['EINVAL', 'ENOTSUP', 'EISDIR', 'ENOENT'])

/** The part of `node:fs/promises` that the stores use; tests pass one that fails. */
export type FileSystem = WritingFileSystem & {
  readonly mkdir: (
    path: string,
    options: { readonly recursive: true; readonly mode: number },
  ) => Promise<string | undefined>
  readonly readFile: (path: string) => Promise<Uint8Array>
  readonly readdir: (path: string) => Promise<readonly string[]>
  readonly stat: (path: string) => Promise<{ readonly size: number; readonly mtimeMs: number }>
  readonly link: (from: string, to: string) => Promise<void>
}

/**
 * Reads and writes complete files. Every method throws {@link StoreError} when the file system
 * fails. A change survives a power cut after `sync` of its folder.
 */
export class Files {
  private readonly fs: FileSystem

  private readonly now: () => number

  constructor(fs: FileSystem = nodeFiles, now: () => number = Date.now) {
    this.fs = fs
    this.now = now
  }

  /**
   * Replaces a file, and creates its folder when there is none. A failure leaves the previous file.
   * @param modifiedMs the modification time to set, in milliseconds since 1970
   */
  write(path: string, parts: readonly Uint8Array[], modifiedMs?: number): Promise<void> {
    return named(() => this.writeWhole(path, parts, { modifiedMs }))
  }

  /**
   * Writes a file that does not exist yet, in one step. Resolves with false, changing nothing, if
   * it exists (of several processes that write the same path one succeeds) or if `isDue`, called
   * once the bytes are on the disk, resolves with false.
   */
  async writeNew(
    path: string,
    parts: readonly Uint8Array[],
    isDue: () => Promise<boolean>,
  ): Promise<boolean> {
    let isWritten = false
    const place = async (temporary: string): Promise<void> => {
      isWritten = (await isDue()) && (await this.linkNew(temporary, path))
      await this.fs.rm(temporary, { force: true })
    }
    await named(() => this.writeWhole(path, parts, { place }))
    return isWritten
  }

  /** Creates an empty file; false if it exists. Of several processes one succeeds. */
  create(path: string): Promise<boolean> {
    return named(async () => {
      await this.createFolder(dirname(path))
      try {
        await (await this.fs.open(path, 'wx', FILE_MODE)).close()
        return true
      } catch (error) {
        if (codeOf(error) === 'EEXIST') return false
        throw error
      }
    })
  }

  /** Reads a file; `undefined` if it does not exist. */
  read(path: string): Promise<Uint8Array | undefined> {
    return orMissing(async () => new Uint8Array(await this.fs.readFile(path)))
  }

  /** Lists the names in a folder; none if it does not exist. */
  async list(folder: string): Promise<readonly string[]> {
    return (await orMissing(() => this.fs.readdir(folder))) ?? []
  }

  /** Returns a file's size in bytes and modification time; `undefined` if it does not exist. */
  stat(path: string): Promise<{ readonly size: number; readonly mtimeMs: number } | undefined> {
    return orMissing(() => this.fs.stat(path))
  }

  /**
   * Returns what {@link stat} does for each path, in order. Starts some at a time: all at once
   * would take the event loop for tens of milliseconds, and all threads of its pool.
   */
  async statAll(paths: readonly string[]): Promise<Awaited<ReturnType<Files['stat']>>[]> {
    const found: Awaited<ReturnType<Files['stat']>>[] = []
    for (let start = 0; start < paths.length; start += STATS_AT_ONCE) {
      const some = paths.slice(start, start + STATS_AT_ONCE)
      found.push(...(await Promise.all(some.map((path) => this.stat(path)))))
    }
    return found
  }

  /** Renames a file, if it exists, and replaces the target. */
  async rename(from: string, to: string): Promise<void> {
    await orMissing(() => this.fs.rename(from, to))
  }

  /** Removes a file, if it exists. */
  remove(path: string): Promise<void> {
    return named(() => this.fs.rm(path, { force: true }))
  }

  /** Removes a folder and all below it; resolves with whether it existed. */
  async removeFolder(folder: string): Promise<boolean> {
    if ((await this.stat(folder)) === undefined) return false
    await named(() => this.fs.rm(folder, { force: true, recursive: true }))
    await this.sync(dirname(folder))
    return true
  }

  /** Makes creations, renames and removals in a folder survive a power cut. */
  sync(folder: string): Promise<void> {
    return named(async () => {
      try {
        const handle = await this.fs.open(folder, 'r')
        await handle.sync().finally(() => handle.close())
      } catch (error) {
        if (!UNSYNCABLE.has(codeOf(error))) throw error
      }
    })
  }

  /** Removes the temporary files with a prefix that killed processes left in a folder. */
  async sweep(folder: string, prefix = ''): Promise<void> {
    for (const name of await this.list(folder)) {
      if (!name.startsWith(prefix) || !name.endsWith(TEMPORARY)) continue
      const found = await this.stat(join(folder, name))
      // The clock may have been set back since.
      const isLeft = found !== undefined && Math.abs(this.now() - found.mtimeMs) > LEFT_MS
      if (isLeft) await this.remove(join(folder, name))
    }
  }

  private async linkNew(from: string, to: string): Promise<boolean> {
    try {
      await this.fs.link(from, to)
      return true
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false
      throw error
    }
  }

  private async writeWhole(
    path: string,
    parts: readonly Uint8Array[],
    options: WholeFileOptions,
  ): Promise<void> {
    await this.createFolder(dirname(path))
    const temporary = `${path}.${randomUUID()}${TEMPORARY}`
    await writeWholeFile(path, parts, { ...options, fs: this.fs, temporary })
  }

  private async createFolder(folder: string): Promise<void> {
    const first = await this.fs.mkdir(folder, { recursive: true, mode: FOLDER_MODE })
    if (first === undefined) return
    for (let at = folder; at.length >= first.length; at = dirname(at)) await this.sync(dirname(at))
  }
}

async function named<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof StoreError) throw error
    throw new StoreError(codeOf(error), error)
  }
}

async function orMissing<T>(act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new StoreError(codeOf(error), error)
  }
}

/** Returns an error's errno name; `EIO` if it has none. */
function codeOf(error: unknown): string {
  const hasCode = error instanceof Error && 'code' in error && typeof error.code === 'string'
  return hasCode ? String(error.code) : 'EIO'
}
