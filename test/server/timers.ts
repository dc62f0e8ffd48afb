/**
 * Timers that a test runs.
 * @module
 */
import { type TestContext, vi } from 'vitest'

/** Intercepts timers with this delay until the test ends. Returns a function that runs them all. */
export function replaceTimers(t: TestContext, delayMs: number): () => void {
  const tasks = new Map<object, () => void>()
  const { setTimeout: start, clearTimeout: stop } = globalThis
  vi.stubGlobal('setTimeout', (task: () => void, ms: number) => {
    if (ms !== delayMs) return start(task, ms)
    const timer = {}
    tasks.set(timer, task)
    return timer
  })
  vi.stubGlobal('clearTimeout', (timer: NodeJS.Timeout) => {
    if (!tasks.delete(timer)) stop(timer)
  })
  t.onTestFinished(() => {
    vi.unstubAllGlobals()
  })
  return () => {
    const due = [...tasks.values()]
    tasks.clear()
    for (const task of due) task()
  }
}
