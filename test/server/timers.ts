/**
 * Timers that run when a test says so.
 * @module
 */
import type { TestContext } from 'node:test'

/** Takes over timers of this delay until the test ends; returns what runs all there are. */
export function replaceTimers(t: TestContext, delayMs: number): () => void {
  const tasks = new Map<object, () => void>()
  const { setTimeout: start, clearTimeout: stop } = globalThis
  t.mock.method(globalThis, 'setTimeout', (task: () => void, ms: number) => {
    if (ms !== delayMs) return start(task, ms)
    const timer = {}
    tasks.set(timer, task)
    return timer
  })
  t.mock.method(globalThis, 'clearTimeout', (timer: NodeJS.Timeout) => {
    if (!tasks.delete(timer)) stop(timer)
  })
  return () => {
    const due = [...tasks.values()]
    tasks.clear()
    for (const task of due) task()
  }
}
