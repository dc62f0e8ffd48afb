/**
 * Runs asynchronous steps one at a time.
 * @module
 */

/** A lock within one process. */
export class Mutex {
  private last: Promise<unknown> = Promise.resolve()

  /**
   * Runs a step after all earlier ones, whether these succeed or fail; settles as the step does.
   */
  run<T>(step: () => Promise<T>): Promise<T> {
    const result = this.last.then(step)
    this.last = result.catch(() => undefined)
    return result
  }
}
