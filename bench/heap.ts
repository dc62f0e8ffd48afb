/**
 * What is in use of the heap, and how often garbage was collected.
 * @module
 */
import { PerformanceObserver } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** What objects are in use, after all others are gone. */
export function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new TypeError('Garbage cannot be collected')
  collect()
  collect()
  return process.memoryUsage().heapUsed
}

/**
 * What a piece of work leaves on the heap, in bytes, and how often garbage was collected meanwhile:
 * when it never was, that is all that the work allocated.
 */
export async function allocatedBy(
  work: () => void | Promise<void>,
): Promise<{ readonly bytes: number; readonly collections: number }> {
  let collections = 0
  const observer = new PerformanceObserver((list) => {
    collections += list.getEntries().length
  })
  const beforeBytes = heapBytes()
  await new Promise((resolve) => setTimeout(resolve, 50))
  observer.observe({ entryTypes: ['gc'] })
  const startBytes = process.memoryUsage().heapUsed
  await work()
  const bytes = process.memoryUsage().heapUsed - Math.max(startBytes, beforeBytes)
  await new Promise((resolve) => setTimeout(resolve, 50))
  observer.disconnect()
  return { bytes, collections }
}
