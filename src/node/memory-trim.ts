/**
 * Returns memory to the system soon after a surge of clients. V8 keeps garbage until it runs again,
 * and glibc keeps freed memory scattered in its heap: after 5,000 TLS connections, 280 MiB of 390
 * that a process had were free, and stayed.
 * @module
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** How often to look, in milliseconds. */
const CHECK_MS = 5000
/**
 * Has V8 look for garbage three seconds after the heap stops growing, in place of 30. Measured with
 * 100 MiB of garbage and a few requests a second: returned after 20 seconds, and otherwise not
 * within half a minute.
 */
const EARLY_COLLECTION = '--gc-memory-reducer-start-delay-ms=3000'
/** Growth over the least memory the process had since it started, as a factor, before we trim. */
const GROWTH_MIN = 1.1
/** The same before we collect garbage, unless the process still grows. */
const SURGE_MIN = 1.25
/**
 * Bytes of a heap above which only V8 decides when to collect garbage: it marks some 1 MiB of live
 * objects a millisecond, and nobody is served meanwhile.
 */
const COLLECTED_BYTES_MAX = 256 * 1024 * 1024

/** What this module uses of node:ffi, which is experimental in Node 26. */
type Ffi = {
  readonly dlopen: (
    path: null,
    functions: { readonly malloc_trim: { readonly arguments: ['i64']; readonly return: 'i32' } },
  ) => { readonly functions: { readonly malloc_trim: (keepBytes: bigint) => number } }
}

/** A process's memory, for tests. */
export type Memory = {
  /** Resident bytes. */
  readonly resident: () => number
  /** Gives free memory back (malloc_trim(3)): 30 ms for 280 MiB, 0.1 ms where there is none. */
  readonly trim: () => void
  /** Collects all garbage. V8 itself waits while clients keep it busy with 1 MB a second. */
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
  let least = resident()
  let previous = least
  /** What a collection left: the next one is due when there is more again. */
  let kept = 0
  const timer = setInterval(() => {
    const now = resident()
    const isOver = now > least * SURGE_MIN && now <= previous * GROWTH_MIN
    if (isOver && now > kept * GROWTH_MIN) {
      collect()
      trim()
      kept = resident()
    } else if (now > least * GROWTH_MIN) trim()
    previous = resident()
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
  return trim && { resident: () => process.memoryUsage.rss(), trim, collect: findCollect() }
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
  const { emitWarning } = process
  // The warning that FFI is experimental would be the first line that operators read.
  process.emitWarning = () => undefined
  try {
    const ffi: object | undefined = process.getBuiltinModule('node:ffi')
    if (!isFfi(ffi)) return undefined
    const found = ffi.dlopen(null, { malloc_trim: { arguments: ['i64'], return: 'i32' } })
    return () => void found.functions.malloc_trim(0n)
  } catch {
    return undefined
  } finally {
    process.emitWarning = emitWarning
  }
}

function isFfi(module: object | undefined): module is Ffi {
  return module !== undefined && 'dlopen' in module
}
