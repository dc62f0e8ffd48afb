/**
 * Returns memory to the system soon after a surge of clients. V8 keeps garbage until its next
 * collection, and glibc keeps freed memory in its heap: after 5,000 TLS connections, 280 MiB of a
 * process's 390 MiB were free but never returned.
 * @module
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { loadCFunctions } from './c-functions.ts'

/** Interval of the checks in milliseconds. */
const CHECK_MS = 5000
/**
 * Makes V8 collect garbage three seconds after the heap stops growing instead of 30. Measured with
 * 100 MiB of garbage and a few requests a second: returned after 20 seconds; without this, not
 * within half a minute.
 */
const EARLY_COLLECTION = '--gc-memory-reducer-start-delay-ms=3000'
/** Trims once resident memory exceeds its minimum since the start by this factor. */
const GROWTH_MIN = 1.1
/** The same factor for collecting garbage, unless the process is still growing. */
const SURGE_MIN = 1.25
/**
 * Heap size in bytes above which only V8 decides when to collect garbage: marking takes about 1 ms
 * per MiB of live objects, and blocks queries.
 */
const COLLECTED_BYTES_MAX = 256 * 1024 * 1024

/** Access to the process's memory; tests replace it. */
export type Memory = {
  /** Resident bytes; `undefined` when they cannot be read. */
  readonly resident: () => number | undefined
  /** Returns free memory to the system (malloc_trim(3)): 30 ms for 280 MiB, 0.1 ms for none. */
  readonly trim: () => void
  /** Collects all garbage. V8 itself delays that while clients allocate as little as 1 MB/s. */
  readonly collect: () => void
}

/**
 * Has V8 collect garbage early, and after each surge; trims memory whenever the process has grown,
 * until the returned function is called. Leaves it to V8 where the C library or the runtime cannot
 * trim (musl, macOS, Bun, Node before 26).
 */
export function startMemoryTrim(memory: Memory | undefined = processMemory()): () => void {
  if (process.versions.bun === undefined) setFlagsFromString(EARLY_COLLECTION)
  if (memory === undefined) return () => undefined
  const { resident, trim, collect } = memory
  let least = resident() ?? Number.POSITIVE_INFINITY
  let previous = least
  /** What a collection left: the next one is due when there is more again. */
  let kept = 0
  const timer = setInterval(() => {
    const now = resident()
    if (now === undefined) return
    const isOver = now > least * SURGE_MIN && now <= previous * GROWTH_MIN
    if (isOver && now > kept * GROWTH_MIN) {
      collect()
      trim()
      kept = resident() ?? now
    } else if (now > least * GROWTH_MIN) trim()
    previous = resident() ?? now
    least = Math.min(least, previous)
    kept = Math.min(kept, previous)
  }, CHECK_MS)
  timer.unref()
  return () => {
    clearInterval(timer)
  }
}

function processMemory(): Memory | undefined {
  const trim = findTrim()
  return trim && { resident: readResident, trim, collect: findCollect() }
}

function readResident(): number | undefined {
  try {
    return process.memoryUsage.rss()
  } catch {
    // Reading it takes a descriptor, and none may be free.
    return undefined
  }
}

function findCollect(): () => void {
  setFlagsFromString('--expose-gc')
  const gc: unknown = runInNewContext('gc')
  return () => {
    const { used_heap_size: usedBytes } = getHeapStatistics()
    if (typeof gc === 'function' && usedBytes < COLLECTED_BYTES_MAX) gc()
  }
}

function findTrim(): (() => void) | undefined {
  const found = loadCFunctions({ malloc_trim: { return: 'i32', arguments: ['i64'] } })
  return found && (() => void found.functions.malloc_trim(0n))
}
