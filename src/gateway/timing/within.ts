/**
 * Waits for a promise, but not for ever.
 * @module
 */

/** Runs a task once after a delay; returns a function that cancels it. */
export type After = (delayMs: number, task: () => void) => () => void

/** Waits for a promise, but no longer than `limitMs`. @throws {LoadTimeoutError} after that */
export function within<T>(
  after: After,
  load: Promise<T>,
  limitMs: number,
): Promise<{ readonly value: T }> {
  return new Promise((resolve, reject) => {
    const cancel = after(limitMs, () => {
      reject(new LoadTimeoutError(`no answer from the store after ${limitMs} ms`))
    })
    load.then(
      (value) => {
        cancel()
        resolve({ value })
      },
      (error: unknown) => {
        cancel()
        reject(error)
      },
    )
  })
}

/** A store that did not answer in time. */
export class LoadTimeoutError extends Error {
  override readonly name = 'LoadTimeoutError'
}
