/**
 * Files that are whole or not there, whatever happens while they are written.
 * @module
 */
import { randomUUID } from 'node:crypto'
import { link, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Readable by whom the process runs as, and nobody else. */
const MODE = 0o600

/** Writes a file in place of the one before, in one step that outlives a power cut. */
export function writeWhole(path: string, parts: readonly Uint8Array[]): Promise<void> {
  return withTemporary(path, parts, (temporary) => rename(temporary, path))
}

/**
 * Writes a file that does not exist yet, in one step. Resolves with false, changing nothing, when
 * it exists (of several processes that write the same path one succeeds) or when `isDue` resolves
 * with false, which is called once the bytes are on the disk.
 */
export async function writeNew(
  path: string,
  parts: readonly Uint8Array[],
  isDue: () => Promise<boolean>,
): Promise<boolean> {
  let isWritten = false
  await withTemporary(path, parts, async (temporary) => {
    isWritten = (await isDue()) && (await linkNew(temporary, path))
    await rm(temporary)
  })
  return isWritten
}

async function linkNew(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

async function withTemporary(
  path: string,
  parts: readonly Uint8Array[],
  place: (temporary: string) => Promise<void>,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${randomUUID()}.tmp`
  try {
    const file = await open(temporary, 'w', MODE)
    try {
      for (const part of parts) await file.write(part)
      await file.sync()
    } finally {
      await file.close()
    }
    await place(temporary)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** Reads a file; `undefined` when it is not there. */
export async function readWhole(path: string): Promise<Uint8Array | undefined> {
  try {
    return new Uint8Array(await readFile(path))
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Lists the names in a folder; none when it is not there. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** Whether an error says that a file is not there. */
export function isMissing(error: unknown): boolean {
  return hasCode(error, 'ENOENT')
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
