/**
 * The output streams of commands, their errors and exit statuses.
 * @module
 */
import { accessSync, constants, statSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { ConfigError, formatProblem } from '../../corefile/problem.ts'
import { errorCode, fileReason } from '../../dns/bytes/unknown.ts'
import type { Log, LogFormat } from '../../dns/telemetry/log.ts'
import { formatEvent, parseLogLine } from './log-lines.ts'

/** Standard output and standard error of a command. */
export type Output = {
  readonly stdout: Writable
  readonly stderr: Writable
  /**
   * The format of what a server logs, on both streams. Without one, each has its own: events are
   * JSON on standard error, and standard output has CoreDNS's lines, which its scripts wait for.
   */
  readonly format?: LogFormat | undefined
}

/** Receives a line of CoreDNS without its line break: `[LEVEL] TEXT`. */
export type Print = (line: string) => void

/** A command failed because of its input or its environment: one line, exit status 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/** Wrong usage: one line and the command's usage, exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Exit statuses: success, an error the user can fix, wrong usage. */
export const EXIT = { DONE: 0, FAILED: 1, USAGE: 2 } as const

/**
 * Ignores EPIPE on both streams (`kubedoh … | head`). Node ignores SIGPIPE, so a failed write would
 * end the process with a stack trace. A server keeps running when its log's reader is gone.
 */
export function ignoreClosedPipes({ stdout, stderr }: Output): void {
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error) => {
      if (!('code' in error) || error.code !== 'EPIPE') throw error
    })
  }
}

/** Returns the reason why a file cannot be read, to print after its path. */
export function whyUnreadable(path: string): string {
  try {
    if (!statSync(path).isFile()) return 'it is not a file'
    accessSync(path, constants.R_OK)
    return 'it is too large'
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? 'no such file' : fileReason(error)
  }
}

/**
 * Returns the message for an address that cannot be listened on, with a hint where one is known.
 */
export function listenMessage(error: unknown, where: string): string {
  const code = errorCode(error)
  const reason = LISTEN_REASONS.get(code) ?? code
  return `Cannot listen on ${where}: ${reason}`
}

const LISTEN_REASONS: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'address in use; stop the other process or choose another port'],
  ['EADDRNOTAVAIL', 'no interface of this machine has the address'],
  ['EACCES', 'ports under 1024 need root or CAP_NET_BIND_SERVICE'],
])

/** Names of errors that are bugs of ours: their stack is printed. */
const UNFORESEEN: ReadonlySet<string> = new Set(['Error', 'TypeError', 'RangeError'])

/** Creates a log that writes a line for each event to standard error; JSON by default. */
export function createLog({ stderr, format = 'json' }: Output): Log {
  return (event) => {
    stderr.write(`${formatEvent(event, Date.now(), format)}\n`)
  }
}

/** Returns a function that writes lines of CoreDNS to standard output, unchanged by default. */
export function createPrint({ stdout, format = 'coredns' }: Output): Print {
  if (format === 'coredns') return (line) => void stdout.write(`${line}\n`)
  return (line) => {
    stdout.write(`${formatEvent(parseLogLine(line), Date.now(), format)}\n`)
  }
}

/** Writes the ready line to standard output: by default as it is, as scripts wait for it. */
export function announce(output: Output, line: string): void {
  if (output.format === undefined) output.stdout.write(`${line}\n`)
  else createPrint(output)(`[INFO] ${line}`)
}

/** Formats an error for standard error; only errors that are bugs show their stack. */
export function describeError(error: unknown): string {
  if (error instanceof ConfigError) return error.problems.map(formatProblem).join('\n')
  if (!(error instanceof Error)) return `kubedoh: ${String(error)}`
  return UNFORESEEN.has(error.name)
    ? `kubedoh: ${error.stack ?? error.message}`
    : `kubedoh: ${error.message}`
}
