/**
 * Files that a reader sees complete or not at all, whatever fails during a write.
 * @module
 */
import * as nodeFiles from 'node:fs/promises'

/** An open file, as `node:fs/promises` has it. */
export type OpenFile = {
  readonly write: (bytes: Uint8Array) => Promise<{ readonly bytesWritten: number }>
  readonly stat: () => Promise<{ readonly size: number }>
  readonly utimes: (accessedSeconds: number, modifiedSeconds: number) => Promise<void>
  readonly sync: () => Promise<void>
  readonly close: () => Promise<void>
}

/** The part of `node:fs/promises` that writes a file; tests pass one that fails. */
export type WritingFileSystem = {
  readonly open: (path: string, flags: 'r' | 'wx', mode?: number) => Promise<OpenFile>
  readonly rename: (from: string, to: string) => Promise<void>
  readonly rm: (
    path: string,
    options: { readonly force: true; readonly recursive?: true },
  ) => Promise<void>
}

/** How to write a file. */
export type WholeFileOptions = {
  readonly fs?: WritingFileSystem
  /** Permissions of the file (default: for its owner only). */
  readonly mode?: number
  /** Where only this call writes it first (default: the path and `.kubedoh`). */
  readonly temporary?: string
  /** The modification time to set, in milliseconds since 1970. */
  readonly modifiedMs?: number | undefined
  /** Called after the content is written, before it is synced to the disk. */
  readonly prepare?: (temporary: string) => void
  /** Gives the synced file its path, or removes it (default: renames it). */
  readonly place?: (temporary: string) => Promise<void>
}

/**
 * Replaces a file, or creates it. Syncs the content before the file gets its path, so that a power
 * cut leaves the previous file or the new one. A failure leaves the previous one only.
 * @throws {Error} with the code of the file system
 */
export async function writeWholeFile(
  path: string,
  content: string | readonly Uint8Array[],
  options: WholeFileOptions = {},
): Promise<void> {
  const { fs = nodeFiles, temporary = `${path}.kubedoh` } = options
  const { place = (written) => fs.rename(written, path) } = options
  const parts = typeof content === 'string' ? [Buffer.from(content)] : content
  // A crash may have left it.
  if (options.temporary === undefined) await fs.rm(temporary, { force: true })
  try {
    await create(temporary, parts, options)
    await place(temporary)
  } catch (error) {
    // The first failure is the cause; a full or read-only disk may fail here as well.
    await fs.rm(temporary, { force: true }).catch(() => undefined)
    throw error
  }
}

async function create(
  path: string,
  parts: readonly Uint8Array[],
  { fs = nodeFiles, mode = 0o600, modifiedMs, prepare }: WholeFileOptions,
): Promise<void> {
  // An existing file may be another program's, or a symbolic link.
  const file = await fs.open(path, 'wx', mode)
  try {
    for (const part of parts) await writeAll(file, part)
    const expected = parts.reduce((sum, part) => sum + part.length, 0)
    const { size } = await file.stat()
    if (size !== expected) throw new Error(`${path} has ${size} of ${expected} bytes`)
    if (modifiedMs !== undefined) await file.utimes(modifiedMs / 1000, modifiedMs / 1000)
    prepare?.(path)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** A full disk may take part of a write without an error; the next write then names the cause. */
async function writeAll(file: OpenFile, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.length > 0; ) {
    const { bytesWritten } = await file.write(rest)
    if (bytesWritten === 0) throw new Error('the file system wrote 0 bytes')
    rest = rest.subarray(bytesWritten)
  }
}
