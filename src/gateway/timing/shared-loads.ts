/**
 * Loads that several requests share.
 *
 * On Workers, a load may never settle once the request that started it is cancelled. So a request
 * waits only briefly for another's load, then starts its own; every load has a time limit.
 * @module
 */

/** How long a request waits for another's load. */
const JOIN_MS = 500
/** How long a load may take. */
const LOAD_MS = 3000

/** Runs a task once after a delay; returns a function that cancels it. */
export type After = (delayMs: number, task: () => void) => () => void

/** Running loads, by key. */
export class SharedLoads<T> {
  private readonly after: After
  private readonly running = new Map<string, Promise<T>>()

  constructor(after: After) {
    this.after = after
  }

  /** Joins the running load of a key, or starts one. @throws {LoadTimeoutError} after 3 s */
  async load(key: string, start: () => Promise<T>): Promise<T> {
    const running = this.running.get(key)
    if (running === undefined) return this.begin(key, start)
    const joined = await within(this.after, running, JOIN_MS).catch((error: unknown) => {
      if (error instanceof LoadTimeoutError) return undefined
      throw error
    })
    return joined === undefined ? this.begin(key, start) : joined.value
  }

  private async begin(key: string, start: () => Promise<T>): Promise<T> {
    const load = start()
    this.running.set(key, load)
    try {
      return (await within(this.after, load, LOAD_MS)).value
    } finally {
      if (this.running.get(key) === load) this.running.delete(key)
    }
  }
}

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
