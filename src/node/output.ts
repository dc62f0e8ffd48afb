/**
 * Where commands write, and how they fail.
 * @module
 */
import { statSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { ConfigError, formatProblem } from '../corefile/problem.ts'
import { formatLogEvent, type Log } from '../telemetry/log.ts'

/** The streams of a command. */
export type Output = { readonly stdout: Writable; readonly stderr: Writable }

/** A command's input or the world is wrong: one line for people, exit status 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/** The command line does not say what to do: one line, the command's usage, exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Exit statuses: all is well, something that the user can mend, wrong usage. */
export const EXIT = { DONE: 0, FAILED: 1, USAGE: 2 } as const

/**
 * Ignores that the reader of a pipe is gone (`kubedoh … | head`). Node ignores SIGPIPE, so that a
 * failed write would end the process with a stack trace. Servers go on without their reader.
 */
export function ignoreClosedPipes({ stdout, stderr }: Output): void {
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error) => {
      if (!('code' in error) || error.code !== 'EPIPE') throw error
    })
  }
}

/** Why a file cannot be read, for people. */
export function whyUnreadable(path: string): string {
  try {
    return statSync(path).isFile() ? 'it cannot be read, or is too large' : 'it is not a file'
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    return code === 'ENOENT' ? 'no such file' : code
  }
}

/** Names that errors have which nobody foresaw. */
const UNFORESEEN: ReadonlySet<string> = new Set(['Error', 'TypeError', 'RangeError'])

/** Makes a log that writes lines of JSON to standard error. */
export function createLog({ stderr }: Output): Log {
  return (event) => {
    stderr.write(`${formatLogEvent(event, Date.now())}\n`)
  }
}

/** The lines that tell what went wrong; unforeseen errors keep their stack. */
export function describeError(error: unknown): string {
  if (error instanceof ConfigError) return error.problems.map(formatProblem).join('\n')
  if (!(error instanceof Error)) return `kubedoh: ${String(error)}`
  return UNFORESEEN.has(error.name)
    ? `kubedoh: ${error.stack ?? error.message}`
    : `kubedoh: ${error.message}`
}
