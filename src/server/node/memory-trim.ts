/**
 * Returns memory to the system after the start and after each surge of clients: V8 keeps garbage
 * until its next collection, and the free pages of its heap for longer; glibc keeps freed memory.
 * After 5,000 TLS connections, 280 MiB of a process's 390 MiB were free but never returned.
 * @module
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { loadCFunctions } from './c-functions.ts'

/** Interval of the checks in milliseconds. */
const CHECK_MS = 5000
/** Growth of resident memory that is worth a collection, as a factor. */
const GROWTH_MIN = 1.25
/** A collection that leaves more than this share was hardly worth its 50 ms. */
const LEFT_SHARE_MAX = 0.8
/** Most checks between two collections of a process that has more memory than it once needed. */
const PAUSE_CHECKS_MAX = 64
/**
 * Share of a CPU up to which a process is quiet: a collection blocks its queries for some 50 ms.
 * With a tenth, a server with 20 new TLS connections a second on a slow machine was never quiet
 * and kept 290 MiB of a surge of which 110 remained.
 */
const QUIET_SHARE_MAX = 0.25
/**
 * Heap size in bytes above which only V8 decides when to collect garbage: marking takes about 1 ms
 * per MiB of live objects.
 */
const COLLECTED_BYTES_MAX = 256 * 1024 * 1024
/**
 * Lets the heap grow by two fifths between two collections. V8 counts buffers against the heap's
 * limit, but not in the rate of allocation from which it computes that limit, and chose a tenth: at
 * 200 changes a second, an exporter of 10,000 hostnames marked 77 MiB of objects twice a second.
 */
const BUFFER_GROWTH = '--heap-growing-percent=40'

/** Access to the process's memory and CPU time; tests replace it. */
export type Memory = {
  /** Resident bytes; `undefined` when they cannot be read. */
  readonly resident: () => number | undefined
  /** CPU time of the process so far, in milliseconds. */
  readonly busyMs: () => number
  /** Collects the garbage of this thread's heap, and returns free memory to the system. */
  readonly collect: () => void
}

/**
 * Collects this thread's garbage when the process is quiet and has grown since the last time, until
 * the returned function is called. The first quiet interval comes after the start. While it has
 * more memory than the least so far, it collects again and again, since nothing shows that clients
 * have gone; ever more rarely if that finds no garbage. Leaves it to V8 on Bun and Deno.
 */
export function startMemoryTrim(memory: Memory | undefined = processMemory()): () => void {
  if (memory === undefined) return () => undefined
  const timer = setInterval(collectionsOf(memory), CHECK_MS).unref()
  return () => clearInterval(timer)
}

/** Returns what checks the memory, and collects garbage if it is time. */
function collectionsOf({ resident, busyMs, collect }: Memory): () => void {
  let lastBusyMs = busyMs()
  let least = Number.POSITIVE_INFINITY
  let kept = 0
  let pauseChecks = 1
  let checks = 0
  return () => {
    const nowBusyMs = busyMs()
    const isQuiet = nowBusyMs - lastBusyMs <= CHECK_MS * QUIET_SHARE_MAX
    lastBusyMs = nowBusyMs
    const bytes = resident()
    if (bytes === undefined) return
    // Also of a busy process: the first collection may come in a surge, whose memory is no measure.
    least = Math.min(least, bytes)
    const hasGrown = bytes > kept * GROWTH_MIN
    if (!isQuiet || (!hasGrown && bytes <= least * GROWTH_MIN)) return
    if (!hasGrown && ++checks < pauseChecks) return
    collect()
    kept = resident() ?? kept
    least = Math.min(least, kept)
    checks = 0
    const isInUse = !hasGrown && kept > bytes * LEFT_SHARE_MAX
    pauseChecks = isInUse ? Math.min(2 * pauseChecks, PAUSE_CHECKS_MAX) : 1
  }
}

/**
 * Makes V8 collect garbage less often in a process that replaces buffers all the time. Call it
 * after the start, in which V8's own limit rises faster. Does nothing on Bun.
 */
export function allowBufferGarbage(): void {
  if (process.versions.bun === undefined) setFlagsFromString(BUFFER_GROWTH)
}

function processMemory(): Memory | undefined {
  if (process.versions.bun !== undefined || 'Deno' in globalThis) return undefined
  // Absent on musl, macOS and Node before 26.
  const libc = loadCFunctions({ malloc_trim: { return: 'i32', arguments: ['i64'] } })
  let gc: unknown
  return {
    resident: readResident,
    busyMs: () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1000
    },
    collect: () => {
      // Not before: V8 does not take compiled code from a cache that it wrote with other flags.
      gc ??= exposeCollector()
      const { used_heap_size: usedBytes } = getHeapStatistics()
      if (typeof gc === 'function' && usedBytes < COLLECTED_BYTES_MAX) {
        // This one returns the pages that it frees.
        gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
      }
      // 30 ms for 280 MiB, 0.1 ms for none.
      libc?.functions.malloc_trim(0n)
    },
  }
}

/** Returns V8's collector, which keeps compiled code: the next change need not compile it again. */
function exposeCollector(): unknown {
  setFlagsFromString('--no-flush-bytecode')
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc')
}

function readResident(): number | undefined {
  try {
    return process.memoryUsage.rss()
  } catch {
    // Reading it takes a descriptor, and none may be free.
    return undefined
  }
}
