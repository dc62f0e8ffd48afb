import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test, vi } from 'vitest'
import {
  type Memory,
  startHeapTrim,
  startMemoryTrim,
} from '../../../src/server/node/memory-trim.ts'

const NEVER = new Promise<void>(() => undefined)

/** Memory of a busy process, in which nothing happens. */
function fakeMemory(parts: Partial<Memory>): Memory {
  let ms = 0
  return {
    resident: () => 0,
    busyMs: () => (ms += 2000),
    trim: () => undefined,
    collect: () => undefined,
    compact: () => undefined,
    ...parts,
  }
}

test('memory is given back when a process has grown or shrunk, and only then', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  let bytes = 100
  let trims = 0
  const trim = (): void => {
    trims++
    bytes = 105
  }
  const stop = startMemoryTrim(NEVER, fakeMemory({ resident: () => bytes, trim }))
  const trimsWith = (now: number): number => {
    bytes = now
    vi.advanceTimersByTime(5000)
    return trims
  }
  assert.deepEqual([109, 111, 200, 96, 104, 106].map(trimsWith), [0, 1, 2, 2, 2, 3])
  assert.deepEqual([95, 104, 94].map(trimsWith), [4, 4, 5], 'V8 has collected')
  stop()
  assert.equal(trimsWith(500), 5)
})

test('a busy process collects garbage when a surge is over, and again only when there is more', () => {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  let bytes = 100
  let garbage = 0
  let collections = 0
  const collect = (): void => {
    collections++
    garbage = 0
  }
  const memory = fakeMemory({ resident: () => bytes + garbage, collect })
  const stop = startMemoryTrim(NEVER, memory)
  const collectionsWith = (live: number, dead: number): number => {
    ;[bytes, garbage] = [live, dead]
    vi.advanceTimersByTime(5000)
    return collections
  }
  assert.equal(collectionsWith(100, 20), 0, 'no surge')
  assert.equal(collectionsWith(200, 100), 0, 'it still grows')
  assert.equal(collectionsWith(100, 200), 1)
  assert.equal(collectionsWith(100, 25), 1, 'no surge')
  assert.equal(collectionsWith(200, 0), 1, 'it grows')
  assert.equal(collectionsWith(200, 0), 2)
  assert.equal(collectionsWith(205, 0), 2, 'there is hardly more than what was left')
  assert.equal(collectionsWith(205, 20), 3)
  stop()
})

test('the memory of the start is returned once, as soon as the process is quiet', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const calls: string[] = []
  const call = (name: string) => () => void calls.push(name)
  let [ms, share] = [0, 1]
  const busyMs = (): number => ms
  const memory = fakeMemory({ busyMs, trim: call('trim'), compact: call('compact') })
  const stop = startMemoryTrim(Promise.resolve(), memory)
  await Promise.resolve()
  const callsAfter = (passMs: number): string[] => {
    for (let left = passMs; left > 0; left -= 250) {
      ms += 250 * share
      vi.advanceTimersByTime(250)
    }
    return calls.splice(0)
  }
  assert.deepEqual(callsAfter(3000), [], 'busy')
  share = 0.05
  assert.deepEqual(callsAfter(250), ['compact', 'trim'])
  assert.deepEqual(callsAfter(60_000), [])
  stop()
})

test('memory is compacted after a surge once the process is quiet, and again only when there is more', () => {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  let [bytes, ms] = [100, 0]
  const calls: string[] = []
  const memory = fakeMemory({
    resident: () => bytes,
    busyMs: () => ms,
    collect: () => void calls.push('collect'),
    compact: () => {
      calls.push('compact')
      bytes = 120
    },
  })
  const stop = startMemoryTrim(NEVER, memory)
  const callsWith = (now: number, busy: number): string[] => {
    bytes = now
    ms += busy
    vi.advanceTimersByTime(5000)
    return calls.splice(0)
  }
  assert.deepEqual(callsWith(300, 4000), [], 'it grows')
  assert.deepEqual(callsWith(300, 4000), ['collect'], 'it is over, but the process is busy')
  assert.deepEqual(callsWith(300, 400), ['compact'], 'it is quiet')
  assert.deepEqual(callsWith(130, 0), [], 'there is hardly more than what was left')
  assert.deepEqual(callsWith(140, 0), ['compact'], 'a small surge')
  stop()
})

/** In a process of its own: V8 alone collects a heap as large as that of many tests. */
const HEAP_SCRIPT = `
  import { getHeapStatistics } from 'node:v8'
  import { startMemoryTrim } from '${import.meta.resolve('../../../src/server/node/memory-trim.ts')}'
  const returned = async () => {
    const stop = startMemoryTrim(Promise.resolve())
    await new Promise((resolve) => setTimeout(resolve, 1000))
    stop()
    return getHeapStatistics().total_heap_size
  }
  await returned()
  const before = await returned()
  let held = Array.from({ length: 1_000_000 }, (_, i) => ({ at: { i } }))
  const full = getHeapStatistics().total_heap_size
  held = undefined
  console.log(JSON.stringify([before, full, await returned()]))
`

test('the heap is as small after the start as before it, on Linux with glibc', () => {
  const script = ['--input-type=module', '--eval', HEAP_SCRIPT]
  const { stdout } = spawnSync(process.execPath, script, { encoding: 'utf8' })
  const [before = 0, full = 0, after = 0]: readonly number[] = JSON.parse(stdout)
  assert.ok(full > before + 20_000_000, stdout)
  if (isGlibc()) assert.ok(after - before < (full - before) / 10, stdout)
})

test('a check that cannot read the memory changes nothing', () => {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  // As without a free descriptor.
  let bytes: number | undefined = 100
  let trims = 0
  startMemoryTrim(NEVER, fakeMemory({ resident: () => bytes, trim: () => trims++ }))
  bytes = undefined
  vi.advanceTimersByTime(5000)
  bytes = 105
  vi.advanceTimersByTime(5000)
  assert.equal(trims, 0)
  bytes = 120
  vi.advanceTimersByTime(5000)
  assert.equal(trims, 1)
})

test('memory that the system does not report does not end the process', () => {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  vi.spyOn(process.memoryUsage, 'rss').mockImplementation(() => {
    throw Object.assign(new Error('uv_resident_set_memory'), { code: 'EMFILE' })
  })
  startMemoryTrim(NEVER)
  vi.advanceTimersByTime(5000)
})

test('the process has a way to, on Linux with glibc', () => {
  const started = vi.spyOn(globalThis, 'setInterval')
  startMemoryTrim(NEVER)()
  assert.equal(started.mock.calls.length, isGlibc() ? 1 : 0)
})

function isGlibc(): boolean {
  return JSON.stringify(process.report.getReport()).includes('glibcVersionRuntime')
}

test('V8 has the flags that set when it collects garbage', () => {
  const { stdout } = spawnSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
  assert.match(stdout, /--gc-memory-reducer-start-delay-ms /)
  assert.match(stdout, /--heap-growing-percent /)
})

test("a worker's heap is compacted when it grows no more, and again after more growth", () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const MIB = 2 ** 20
  let bytes = 0
  let live = 0
  let compactions = 0
  let trims = 0
  const compact = (): void => {
    compactions++
    bytes = live
  }
  const stop = startHeapTrim({ bytes: () => bytes, compact, trim: () => void trims++ })
  const compactionsWith = (liveMib: number, deadMib: number): number => {
    live = liveMib * MIB
    bytes = live + deadMib * MIB
    vi.advanceTimersByTime(2000)
    return compactions
  }
  assert.equal(compactionsWith(20, 20), 0, 'it grows')
  assert.equal(compactionsWith(20, 40), 0, 'it still grows')
  assert.equal(compactionsWith(20, 40), 1, 'it grows no more')
  assert.equal(compactionsWith(20, 5), 1, 'less garbage than is worth it')
  assert.equal(compactionsWith(20, 5), 1)
  assert.equal(compactionsWith(22, 6), 1, 'too little growth')
  assert.equal(compactionsWith(30, 20), 1, 'it grows')
  assert.equal(compactionsWith(30, 20), 2)
  assert.equal(trims, 2)
  stop()
  compactionsWith(30, 90)
  assert.equal(compactionsWith(30, 90), 2)
})
