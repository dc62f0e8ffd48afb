/**
 * Child processes of the suites.
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** A running process, and its last output. */
export type Running = {
  readonly child: ChildProcess
  /** The last lines of its output. */
  readonly tail: () => string
  /** Resolves with the first line that matches; rejects when the process exits first. */
  readonly line: (pattern: RegExp, timeoutMs?: number) => Promise<string>
  /** Resolves with the exit status. */
  readonly ended: Promise<number | null>
  /** Sends SIGTERM and waits for the exit. @returns the exit status */
  readonly stop: () => Promise<number | null>
}

const TAIL_LINES = 40
const KILL_MS = 30_000

/** Starts a process in a folder (default: the current one). */
export function start(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  folder: string = process.cwd(),
): Running {
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const listeners = new Set<(line: string) => void>()
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on('line', (line) => {
      lines.push(line)
      if (lines.length > TAIL_LINES) lines.shift()
      for (const listener of listeners) listener(line)
    })
  }
  const gone = new Promise<number | null>((resolve) => {
    child.once('close', resolve)
  })
  const tail = (): string => lines.join('\n')
  return {
    child,
    tail,
    ended: gone,
    line: (pattern, timeoutMs = 60_000) => {
      const found = Promise.withResolvers<string>()
      const timer = setTimeout(
        () => found.reject(new Error(`no ${pattern}:\n${tail()}`)),
        timeoutMs,
      )
      const check = (line: string): void => {
        if (pattern.test(line)) found.resolve(line)
      }
      listeners.add(check)
      for (const line of lines) check(line)
      void gone.then((status) => found.reject(new Error(`ended with ${status}:\n${tail()}`)))
      return found.promise.finally(() => {
        clearTimeout(timer)
        listeners.delete(check)
      })
    },
    stop: async () => {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), KILL_MS)
      const status = await gone
      clearTimeout(timer)
      return status
    },
  }
}
