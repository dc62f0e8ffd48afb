/**
 * Files that are whole or not there, whatever happens while they are written.
 * @module
 */
import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Readable by whom the process runs as, and nobody else. */
const MODE = 0o600

/** Writes a file in place of the one before, in one step that outlives a power cut. */
export async function writeWhole(path: string, parts: readonly Uint8Array[]): Promise<void> {
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
    await rename(temporary, path)
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

/** Whether an error says that a file is not there. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
