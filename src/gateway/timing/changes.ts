/**
 * Wakes requests that wait for something to change.
 * @module
 */
import type { After } from './within.ts'

/** Those who wait for the next change. */
export class Changes {
  private readonly waiting = new Set<() => void>()

  /** Wakes all who wait. */
  note(): void {
    for (const wake of this.waiting) wake()
  }

  /** Resolves at the next change, or after `limitMs`. Leaves nothing behind. */
  async next(after: After, limitMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.waiting.add(resolve)
    const cancel = after(limitMs, resolve)
    await promise
    cancel()
    this.waiting.delete(resolve)
  }
}
