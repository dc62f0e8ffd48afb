/**
 * Returns memory to the system soon after a surge of clients. V8 keeps garbage until it runs again,
 * and glibc keeps freed memory scattered in its heap: after 5,000 TLS connections, 280 MiB of 390
 * that a process had were free, and stayed.
 * @module
 */
import { setFlagsFromString } from 'node:v8'

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
}

/**
 * Has V8 collect garbage early, and trims memory whenever the process has grown, until the returned
 * function is called. Trims nothing where the C library or the runtime has no way to (musl, macOS,
 * Bun, Node before 26).
 */
export function startMemoryTrim(memory: Memory | undefined = processMemory()): () => void {
  if (process.versions.bun === undefined) setFlagsFromString(EARLY_COLLECTION)
  if (memory === undefined) return () => undefined
  const { resident, trim } = memory
  let least = resident()
  const timer = setInterval(() => {
    if (resident() > least * GROWTH_MIN) trim()
    least = Math.min(least, resident())
  }, CHECK_MS)
  timer.unref()
  return () => {
    clearInterval(timer)
  }
}

function processMemory(): Memory | undefined {
  const trim = findTrim()
  return trim && { resident: () => process.memoryUsage.rss(), trim }
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
