/**
 * Control groups that limit memory, as a container has one (cgroups(7)): version 1, and version 2
 * where the root hands the controller on.
 * @module
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [V1, V2] = ['/sys/fs/cgroup/memory', '/sys/fs/cgroup']
let created = 0

/** A control group. */
export type MemoryCgroup = {
  /** A shell command that moves the shell into it. */
  readonly enter: string
  /** Returns how many processes the kernel has killed because their memory was over the limit. */
  readonly oomKills: () => number
  /** Returns the most memory in MiB that it ever had, with that of files and sockets. */
  readonly peakMib: () => number
  /** Removes it, once its processes have ended. */
  readonly remove: () => void
}

/**
 * Creates a control group, or `undefined` where this user or this machine cannot; prints why a
 * suite then runs without.
 */
export function createMemoryCgroup(limitMib: number): MemoryCgroup | undefined {
  const isV1 = existsSync(join(V1, 'memory.limit_in_bytes'))
  const folder = join(isV1 ? V1 : V2, `kubedoh-attack-${process.pid}-${++created}`)
  const [limit, events, peak] = isV1
    ? ['memory.limit_in_bytes', 'memory.oom_control', 'memory.max_usage_in_bytes']
    : ['memory.max', 'memory.events', 'memory.peak']
  const read = (file: string): string => readFileSync(join(folder, file), 'latin1')
  try {
    mkdirSync(folder)
    writeFileSync(join(folder, limit), String(limitMib * 1024 * 1024))
  } catch (error) {
    process.stdout.write(`skipped: the limit of memory: no control group for it: ${error}\n`)
    return undefined
  }
  return {
    enter: `echo $$ > ${join(folder, 'cgroup.procs')}`,
    oomKills: () => Number(/^oom_kill (\d+)$/m.exec(read(events))?.[1] ?? 0),
    peakMib: () => Number(read(peak)) / 1024 / 1024,
    remove: () => {
      try {
        rmdirSync(folder)
      } catch {
        // A process has not ended yet; the group ends with the machine.
      }
    },
  }
}
