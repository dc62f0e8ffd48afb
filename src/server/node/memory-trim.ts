/**
 * Returns memory to the system after the start and after each surge of clients. V8 keeps garbage
 * until its next collection, and the free pages of its heap for longer; glibc keeps freed memory.
 * After 5,000 TLS connections, 280 MiB of a process's 390 MiB were free but never returned.
 * @module
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { loadCFunctions } from './c-functions.ts'

/** Interval of the checks in milliseconds. */
const CHECK_MS = 5000
/** The same until the memory of the start is returned. */
const START_CHECK_MS = 250
/**
 * Makes V8 collect garbage three seconds after the heap stops growing instead of 30. Measured with
 * 100 MiB of garbage and a few requests a second: returned after 20 seconds; without this, not
 * within half a minute.
 */
const EARLY_COLLECTION = '--gc-memory-reducer-start-delay-ms=3000'
/**
 * Lets the heap grow by two fifths between two collections. V8 counts buffers against the heap's
 * limit, but not in the rate of allocation from which it computes that limit, and chose a tenth: at
 * 200 changes a second, an exporter of 10,000 hostnames marked 77 MiB of objects twice a second.
 */
const BUFFER_GROWTH = '--heap-growing-percent=40'
/**
 * Trims once resident memory exceeds its minimum since the start by this factor, and once it has
 * fallen by it: V8 has collected, and glibc keeps the buffers that it freed. With 500,000 endpoints
 * these were 50 of 423 MiB.
 */
const GROWTH_MIN = 1.1
/** The same factor for collecting garbage, unless the process is still growing. */
const SURGE_MIN = 1.25
/**
 * Share of a CPU up to which a process is quiet: compacting blocks its queries for some 50 ms.
 * With a tenth, a server with 20 new TLS connections a second on a slow machine was never quiet
 * and kept 290 MiB of a surge of which 110 remained.
 */
const QUIET_SHARE_MAX = 0.25
/**
 * Heap size in bytes above which only V8 decides when to collect garbage: marking takes about 1 ms
 * per MiB of live objects, and blocks queries.
 */
const COLLECTED_BYTES_MAX = 256 * 1024 * 1024

/** Access to the process's memory and CPU time; tests replace it. */
export type Memory = {
  /** Resident bytes; `undefined` when they cannot be read. */
  readonly resident: () => number | undefined
  /** CPU time of the process so far, in milliseconds. */
  readonly busyMs: () => number
  /** Returns free memory to the system (malloc_trim(3)): 30 ms for 280 MiB, 0.1 ms for none. */
  readonly trim: () => void
  /** Collects all garbage. V8 itself delays that while clients allocate as little as 1 MB/s. */
  readonly collect: () => void
  /**
   * Collects all garbage and code that no longer runs, and returns the free pages of V8's heap,
   * which `collect` keeps.
   */
  readonly compact: () => void
}

/** Compacts a heap, and returns its free memory to the system. */
function compactHeap({ compact, trim }: Pick<Memory, 'compact' | 'trim'>): void {
  compact()
  trim()
}

/**
 * Has V8 collect garbage early. Compacts memory once `started` has resolved, and after each surge;
 * trims it whenever the process has grown, until the returned function is called. Leaves it to V8
 * where the C library or the runtime cannot trim (musl, macOS, Bun, Node before 26).
 */
export function startMemoryTrim(
  started: Promise<unknown>,
  memory: Memory | undefined = processMemory(),
): () => void {
  if (process.versions.bun === undefined) setFlagsFromString(EARLY_COLLECTION)
  if (memory === undefined) return () => undefined
  const trimmer = new MemoryTrimmer(memory)
  const timer = setInterval(() => trimmer.check(), CHECK_MS).unref()
  let startTimer: NodeJS.Timeout | undefined
  let isEnded = false
  void started.then(() => {
    if (isEnded) return
    const isQuiet = quietWatch(memory, START_CHECK_MS)
    startTimer = setInterval(() => {
      if (!isQuiet()) return
      clearInterval(startTimer)
      trimmer.settle()
    }, START_CHECK_MS).unref()
  })
  return () => {
    isEnded = true
    clearInterval(timer)
    clearInterval(startTimer)
  }
}

/**
 * Has V8 collect garbage less often in a process that replaces buffers all the time. Call it after
 * the start, in which V8's own limit rises faster. Does nothing on Bun.
 */
export function allowBufferGarbage(): void {
  if (process.versions.bun === undefined) setFlagsFromString(BUFFER_GROWTH)
}

/** Interval of the checks of a worker's heap in milliseconds. */
const HEAP_CHECK_MS = 2000
/** Growth between two checks up to which a heap is still. */
const STILL_GROWTH_MAX = 1.05
/** Growth since the last compaction that is worth another one: a factor, and bytes. */
const HEAP_GROWTH_MIN = 1.25
const HEAP_SLACK_BYTES = 8 * 1024 * 1024

/** The heap of this thread; tests replace it. */
export type Heap = Pick<Memory, 'compact' | 'trim'> & {
  /** Bytes of objects and of buffers, with garbage. */
  readonly bytes: () => number
}

/**
 * Compacts a worker's heap each time that it has grown and grows no more, until the returned
 * function is called: {@link startMemoryTrim} reaches the heap of its own thread only, and V8 does
 * not collect in a thread that allocates nothing. Does nothing where memory cannot be trimmed.
 */
export function startHeapTrim(heap: Heap | undefined = threadHeap()): () => void {
  if (heap === undefined) return () => undefined
  let kept = 0
  let previous = 0
  const timer = setInterval(() => {
    const now = heap.bytes()
    const isStill = now <= previous * STILL_GROWTH_MAX
    previous = now
    if (!isStill || now <= kept * HEAP_GROWTH_MIN + HEAP_SLACK_BYTES) return
    compactHeap(heap)
    kept = heap.bytes()
    previous = kept
  }, HEAP_CHECK_MS).unref()
  return () => clearInterval(timer)
}

function threadHeap(): Heap | undefined {
  const memory = processMemory()
  return memory && { ...memory, bytes: heapBytes }
}

function heapBytes(): number {
  const { used_heap_size: usedBytes, external_memory: externalBytes } = getHeapStatistics()
  return usedBytes + externalBytes
}

/** Decides what to return, and when. */
class MemoryTrimmer {
  private readonly memory: Memory
  private readonly isQuiet: () => boolean
  /** What was read last; unknown at first if it could not be read. */
  private read = Number.POSITIVE_INFINITY
  private least: number
  private previous: number
  /** What a collection left, and what a compaction did: another is due when there is more again. */
  private collected = 0
  private compacted = 0

  constructor(memory: Memory) {
    this.memory = memory
    this.isQuiet = quietWatch(memory, CHECK_MS)
    this.least = this.resident()
    this.previous = this.least
  }

  /** Returns what the start needed and running does not. Later growth counts from here. */
  settle(): void {
    this.compact()
    this.least = this.compacted
    this.previous = this.compacted
  }

  check(): void {
    const { trim, collect } = this.memory
    const isQuiet = this.isQuiet()
    const now = this.resident()
    const isOver = now > this.least * SURGE_MIN && now <= this.previous * GROWTH_MIN
    if (isOver && isQuiet && now > this.compacted * GROWTH_MIN) this.compact()
    else if (isOver && now > this.collected * GROWTH_MIN) {
      collect()
      trim()
      this.collected = this.resident()
    } else if (now > this.least * GROWTH_MIN || now * GROWTH_MIN < this.previous) trim()
    this.previous = this.resident()
    this.least = Math.min(this.least, this.previous)
    this.collected = Math.min(this.collected, this.previous)
    this.compacted = Math.min(this.compacted, this.previous)
  }

  private compact(): void {
    compactHeap(this.memory)
    this.compacted = this.resident()
    this.collected = this.compacted
  }

  private resident(): number {
    this.read = this.memory.resident() ?? this.read
    return this.read
  }
}

/** Returns a function to call at an interval: whether the process was quiet since the last call. */
function quietWatch({ busyMs }: Memory, intervalMs: number): () => boolean {
  let before = busyMs()
  return () => {
    const share = (busyMs() - before) / intervalMs
    before = busyMs()
    return share <= QUIET_SHARE_MAX
  }
}

function processMemory(): Memory | undefined {
  const trim = findTrim()
  return trim && { resident: readResident, busyMs, trim, ...findCollections() }
}

function readResident(): number | undefined {
  try {
    return process.memoryUsage.rss()
  } catch {
    // Reading it takes a descriptor, and none may be free.
    return undefined
  }
}

function busyMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function findCollections(): Pick<Memory, 'collect' | 'compact'> {
  setFlagsFromString('--expose-gc')
  const gc: unknown = runInNewContext('gc')
  const run = (options?: object): void => {
    const { used_heap_size: usedBytes } = getHeapStatistics()
    if (typeof gc === 'function' && usedBytes < COLLECTED_BYTES_MAX) gc(options)
  }
  return {
    collect: () => run(),
    compact: () => run({ type: 'major', execution: 'sync', flavor: 'last-resort' }),
  }
}

function findTrim(): (() => void) | undefined {
  const found = loadCFunctions({ malloc_trim: { return: 'i32', arguments: ['i64'] } })
  return found && (() => void found.functions.malloc_trim(0n))
}
