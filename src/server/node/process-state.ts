/**
 * What Linux knows of this process: its open files and its virtual memory (proc(5)).
 * @module
 */
import { readdir, readFile } from 'node:fs/promises'

/** The numbers, each absent where the system does not report it. */
export type ProcessState = {
  /** Open file descriptors. */
  readonly openFiles: number | undefined
  readonly virtualBytes: number | undefined
}

/** Reads the numbers. Never rejects. */
export async function readProcessState(): Promise<ProcessState> {
  const [files, stat] = await Promise.all([
    readdir('/proc/self/fd').catch(() => undefined),
    readFile('/proc/self/stat', 'latin1').catch(() => undefined),
  ])
  return {
    // Without the one of the folder itself.
    openFiles: files && files.length - 1,
    virtualBytes: stat === undefined ? undefined : parseVirtualBytes(stat),
  }
}

/**
 * Parses field 23, `vsize`, of `/proc/self/stat`; `undefined` without one. The second field, the
 * name of the program, is in parentheses and may contain anything.
 */
export function parseVirtualBytes(text: string): number | undefined {
  const afterName = text.slice(text.lastIndexOf(')') + 1).trim()
  const bytes = Number(afterName.split(' ')[20])
  return Number.isSafeInteger(bytes) ? bytes : undefined
}
