/**
 * Attacked programs, with memory and CPU time from `/proc`.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Running, start } from '../real-cluster/processes.ts'
import { createMemoryCgroup, type MemoryCgroup } from './memory-cgroup.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
/** Clock ticks per second in /proc/PID/stat (proc_pid_stat(5)): 100 on every current Linux. */
const TICKS_PER_SECOND = 100
const POLL_MS = 50

/** A running program. */
export type Program = {
  readonly running: Running
  /** Resident memory now, in MiB; 0 once it has ended. */
  readonly memory: () => number
  /** CPU time so far, in seconds. */
  readonly cpuSeconds: () => number
  /** The control group that limits its memory; absent without a limit. */
  readonly cgroup?: MemoryCgroup
  /** The command that runs another one in the program's network; [] for the machine's own. */
  readonly within: readonly string[]
}

/** How to start a program. */
export type ProgramOptions = {
  /** The command to run (default: `bin/kubedoh`). */
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** A line that it prints when it serves. */
  readonly ready: RegExp
  /** Limit of open descriptors (default: the system's maximum). */
  readonly descriptorsMax?: number
  /** Limit of memory in MiB, as of a container (default: none). */
  readonly memoryMib?: number
  /** A command that runs it in a network of its own, such as `ip netns exec NAME`. */
  readonly within?: readonly string[]
}

/** Starts a program; resolves when it prints the line. */
export async function startProgram(
  args: readonly string[],
  options: ProgramOptions,
): Promise<Program> {
  const { command = [KUBEDOH], environment = {}, ready, within = [] } = options
  const { descriptorsMax, memoryMib } = options
  const limit = descriptorsMax ?? '$(ulimit -H -n)'
  const cgroup = memoryMib === undefined ? undefined : createMemoryCgroup(memoryMib)
  const script = `${cgroup?.enter ?? ':'} && ulimit -n ${limit} && exec "$@"`
  const words = [...within, ...command, ...args]
  const running = start('sh', ['-c', script, 'sh', ...words], environment)
  await running.line(ready)
  const { pid } = running.child
  return {
    running: {
      ...running,
      stop: async () => {
        const status = await running.stop()
        cgroup?.remove()
        return status
      },
    },
    ...(cgroup && { cgroup }),
    within,
    memory: () => {
      const [, kib = 0] = /^VmRSS:\s+(\d+) kB$/m.exec(readStatus(`/proc/${pid}/status`)) ?? []
      return Number(kib) / 1024
    },
    cpuSeconds: () => {
      const stat = readStatus(`/proc/${pid}/stat`)
      // The name in parentheses may have spaces; utime and stime are the 12th and 13th after it.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
    },
  }
}

/** Returns what the kernel tells of a process; '' once it has ended. */
function readStatus(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Samples a program's memory. Returns a function that stops it and returns the peak in MiB. */
export function watchPeak(program: Program): () => number {
  let peak = program.memory()
  const timer = setInterval(() => {
    peak = Math.max(peak, program.memory())
  }, POLL_MS)
  return () => {
    clearInterval(timer)
    return peak
  }
}
