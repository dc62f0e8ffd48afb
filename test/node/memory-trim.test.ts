import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { getHeapStatistics } from 'node:v8'
import { test, vi } from 'vitest'
import { returnStartMemory, startMemoryTrim } from '../../src/node/memory-trim.ts'

const NOTHING = {
  resident: () => 0,
  trim: () => undefined,
  collect: () => undefined,
  compact: () => undefined,
}

test('memory is given back when a process has grown, and only then', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  let bytes = 100
  let trims = 0
  const trim = (): void => {
    trims++
    bytes = 105
  }
  const stop = startMemoryTrim({ ...NOTHING, resident: () => bytes, trim })
  const trimsWith = (now: number): number => {
    bytes = now
    vi.advanceTimersByTime(5000)
    return trims
  }
  assert.deepEqual([109, 111, 200, 90, 98, 100].map(trimsWith), [0, 1, 2, 2, 2, 3])
  stop()
  assert.equal(trimsWith(500), 3)
})

test('garbage is collected when a surge is over, and again only when there is more', () => {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  let bytes = 100
  let garbage = 0
  let collections = 0
  const collect = (): void => {
    collections++
    garbage = 0
  }
  const stop = startMemoryTrim({ ...NOTHING, resident: () => bytes + garbage, collect })
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

test('the memory of the start is returned once, after the first queries', () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const calls: string[] = []
  const call = (name: string) => () => void calls.push(name)
  returnStartMemory({ ...NOTHING, trim: call('trim'), compact: call('compact') })
  assert.deepEqual(calls, [])
  vi.advanceTimersByTime(60_000)
  assert.deepEqual(calls, ['compact', 'trim'])
})

test('the heap is as small after the start as before it, on Linux with glibc', () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const returnMemory = (): number => {
    returnStartMemory()
    vi.advanceTimersByTime(60_000)
    return getHeapStatistics().total_heap_size
  }
  const before = returnMemory()
  let held: unknown[] | undefined = Array.from({ length: 1_000_000 }, (_, i) => ({ at: { i } }))
  const full = getHeapStatistics().total_heap_size
  assert.equal(held.length, 1_000_000)
  held = undefined
  const after = returnMemory()
  if (isGlibc()) assert.ok(after - before < (full - before) / 10, `${before} ${full} ${after}`)
})

test('the process has a way to, on Linux with glibc', () => {
  const started = vi.spyOn(globalThis, 'setInterval')
  startMemoryTrim()()
  assert.equal(started.mock.calls.length, isGlibc() ? 1 : 0)
})

function isGlibc(): boolean {
  return JSON.stringify(process.report.getReport()).includes('glibcVersionRuntime')
}

test('V8 has the flag that makes it collect garbage early', () => {
  const { stdout } = spawnSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
  assert.match(stdout, /--gc-memory-reducer-start-delay-ms /)
})
