/**
 * The limit of open files of this process (getrlimit(2), RLIMIT_NOFILE).
 * @module
 */
import { readFileSync } from 'node:fs'

/** Returns the limit; `Infinity` where there is none, or the system does not report it. */
export function fileLimit(): number {
  try {
    return parseFileLimit(readFileSync('/proc/self/limits', 'latin1'))
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** Parses the soft limit in the text of `/proc/self/limits` (proc_pid_limits(5)). */
export function parseFileLimit(text: string): number {
  const digits = /^Max open files +(\d+) /m.exec(text)?.[1]
  return digits === undefined ? Number.POSITIVE_INFINITY : Number(digits)
}
