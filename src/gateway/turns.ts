/**
 * Steps that are taken one after the other, as a single writer needs them.
 * @module
 */

/** Takes steps in the order in which they come; one that fails does not stop those after it. */
export class Turns {
  private last: Promise<unknown> = Promise.resolve()

  /** Takes a step when all before it have ended, and resolves as it does. */
  take<T>(step: () => Promise<T>): Promise<T> {
    const result = this.last.then(step)
    this.last = result.catch(() => undefined)
    return result
  }
}
