import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test, vi } from 'vitest'
import { startMemoryTrim } from '../../src/node/memory-trim.ts'

test('memory is given back when a process has grown, and only then', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  let bytes = 100
  let trims = 0
  const trim = (): void => {
    trims++
    bytes = 105
  }
  const stop = startMemoryTrim({ resident: () => bytes, trim, collect: () => undefined })
  const trimsWith = (now: number): number => {
    bytes = now
    vi.advanceTimersByTime(5000)
    return trims
  }
  assert.deepEqual([109, 111, 200, 90, 98, 100].map(trimsWith), [0, 1, 2, 2, 2, 3])
  stop()
  assert.equal(trimsWith(500), 3)
})

test('a check that cannot read the memory changes nothing', () => {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  // As without a free descriptor.
  let bytes: number | undefined = 100
  let trims = 0
  startMemoryTrim({ resident: () => bytes, trim: () => trims++, collect: () => undefined })
  bytes = undefined
  vi.advanceTimersByTime(5000)
  bytes = 105
  vi.advanceTimersByTime(5000)
  assert.equal(trims, 0)
  bytes = 120
  vi.advanceTimersByTime(5000)
  assert.equal(trims, 1)
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
  const stop = startMemoryTrim({ resident: () => bytes + garbage, trim: () => undefined, collect })
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

test('memory that the system does not report does not end the process', () => {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  vi.spyOn(process.memoryUsage, 'rss').mockImplementation(() => {
    throw Object.assign(new Error('uv_resident_set_memory'), { code: 'EMFILE' })
  })
  startMemoryTrim()
  vi.advanceTimersByTime(5000)
})

test('the process has a way to, on Linux with glibc', () => {
  const report: unknown = process.report.getReport()
  const isGlibc = JSON.stringify(report).includes('glibcVersionRuntime')
  const started = vi.spyOn(globalThis, 'setInterval')
  startMemoryTrim()()
  assert.equal(started.mock.calls.length, isGlibc ? 1 : 0)
})

test('V8 has the flag that makes it collect garbage early', () => {
  const { stdout } = spawnSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })
  assert.match(stdout, /--gc-memory-reducer-start-delay-ms /)
})
