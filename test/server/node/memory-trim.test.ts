import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { expect, test, vi } from 'vitest'
import { type Memory, startMemoryTrim } from '../../../src/server/node/memory-trim.ts'

/** Memory that a test sets. */
class FakeMemory implements Memory {
  live: number | undefined = 100
  garbage = 0
  ms = 0
  collections = 0

  readonly resident = (): number | undefined =>
    this.live === undefined ? undefined : this.live + this.garbage
  readonly busyMs = (): number => this.ms
  readonly collect = (): void => {
    this.collections++
    this.garbage = 0
  }

  /** Returns the number of collections so far, after five seconds with so much CPU time. */
  collectionsAfter(busyMs: number, garbage = 0): number {
    this.ms += busyMs
    this.garbage += garbage
    vi.advanceTimersByTime(5000)
    return this.collections
  }
}

function start(): { readonly memory: FakeMemory; readonly stop: () => void } {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const memory = new FakeMemory()
  return { memory, stop: startMemoryTrim(memory) }
}

test('garbage is collected in the first quiet interval', () => {
  const { memory } = start()
  assert.equal(memory.collectionsAfter(4000), 0)
  assert.equal(memory.collectionsAfter(1251), 0)
  assert.equal(memory.collectionsAfter(1250), 1)
  assert.equal(memory.collectionsAfter(0), 1)
})

test('garbage is collected again after a surge, in the quiet', () => {
  const { memory, stop } = start()
  assert.equal(memory.collectionsAfter(0), 1)
  assert.equal(memory.collectionsAfter(0, 25), 1, 'no surge')
  assert.equal(memory.collectionsAfter(4000, 1), 1, 'busy')
  assert.equal(memory.collectionsAfter(0), 2)
  memory.live = 200
  assert.equal(memory.collectionsAfter(0), 3)
  stop()
  assert.equal(memory.collectionsAfter(0, 500), 3)
})

test('memory of clients is returned once they have gone, in the quiet', () => {
  const { memory } = start()
  memory.collectionsAfter(0)
  memory.live = 200
  assert.equal(memory.collectionsAfter(0), 2, 'they are connected')
  memory.live = 100
  memory.garbage = 100
  assert.equal(memory.collectionsAfter(0), 3)
  assert.equal(memory.garbage, 0)
  assert.equal(memory.collectionsAfter(0), 3, 'nothing is left to return')
})

test('memory of clients is returned after a first collection while they are connected', () => {
  const { memory } = start()
  assert.equal(memory.collectionsAfter(4000), 0, 'the start')
  memory.live = 200
  assert.equal(memory.collectionsAfter(0), 1, 'they are connected')
  memory.live = 100
  memory.garbage = 100
  assert.equal(memory.collectionsAfter(0), 2)
  assert.equal(memory.garbage, 0)
})

test('memory that stays in use is collected ever more rarely', () => {
  const { memory } = start()
  memory.collectionsAfter(0)
  memory.live = 200
  const checks = Array.from({ length: 200 }, () => memory.collectionsAfter(0))
  assert.deepEqual([checks[15], checks[31], checks[63], checks[127], checks[199]], [6, 7, 8, 9, 10])
})

test('a check that cannot read the memory changes nothing', () => {
  const { memory } = start()
  // As without a free descriptor.
  memory.live = undefined
  assert.equal(memory.collectionsAfter(0), 0)
  memory.live = 100
  assert.equal(memory.collectionsAfter(0), 1)
})

test('memory that the system does not report does not end the process', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const rss = vi.spyOn(process.memoryUsage, 'rss').mockImplementation(() => {
    throw Object.assign(new Error('uv_resident_set_memory'), { code: 'EMFILE' })
  })
  const stop = startMemoryTrim()
  vi.advanceTimersByTime(5000)
  stop()
  expect(rss).toHaveBeenCalled()
})

/**
 * In a process of its own, with short intervals: V8 alone collects a large heap sooner or
 * later.
 */
const SCRIPT = `
  import { getHeapStatistics } from 'node:v8'
  import { startMemoryTrim } from '${import.meta.resolve('../../../src/server/node/memory-trim.ts')}'
  const { setInterval } = globalThis
  globalThis.setInterval = (check) => setInterval(check, 50)
  const sizes = () => [getHeapStatistics().total_heap_size, process.memoryUsage.rss()]
  let held = Array.from({ length: 1_000_000 }, (_, i) => ({ at: { i } }))
  const full = sizes()
  held = undefined
  const stop = startMemoryTrim()
  await new Promise((resolve) => setTimeout(resolve, 500))
  stop()
  const after = sizes()
  console.log(JSON.stringify(full.map((bytes, i) => bytes - after[i])))
`

test('the heap and the process shrink by what is garbage', () => {
  const script = ['--input-type=module', '--eval', SCRIPT]
  const { stdout } = spawnSync(process.execPath, script, { encoding: 'utf8' })
  const [heap = 0, resident = 0]: readonly number[] = JSON.parse(stdout)
  assert.ok(heap > 30_000_000 && resident > 30_000_000, stdout)
})

/** A function that has run is lazy again once V8 has dropped its code: bit 17 of its status. */
const CODE_SCRIPT = `
  import { startMemoryTrim } from '${import.meta.resolve('../../../src/server/node/memory-trim.ts')}'
  const { setInterval } = globalThis
  globalThis.setInterval = (check) => setInterval(check, 50)
  // Grows without end, so that each check collects: V8 drops code that is some collections old.
  let bytes = 1
  process.memoryUsage.rss = () => (bytes *= 2)
  const list = new Function('count', 'return Array.from({ length: count }, (_, i) => ({ i }))')
  list(10)
  startMemoryTrim()
  await new Promise((resolve) => setTimeout(resolve, 500))
  console.log((%GetOptimizationStatus(list) >> 17) & 1)
`

test('compiled code stays', () => {
  const script = ['--allow-natives-syntax', '--input-type=module', '--eval', CODE_SCRIPT]
  const { stdout } = spawnSync(process.execPath, script, { encoding: 'utf8' })
  assert.equal(stdout, '0\n')
})

test('V8 has the flags that are set', () => {
  const { stdout } = spawnSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
  assert.match(stdout, /--heap-growing-percent /)
  assert.match(stdout, /--flush-bytecode /)
})
