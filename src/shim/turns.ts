/**
 * Shares the event loop: work that comes in bulk is done a little in each turn of the loop, so that
 * sockets are read in between.
 * @module
 */

/** Time for such work in one turn, in milliseconds; one piece may take it further. */
const TURN_MS = 2

/** Pieces of work, done in turn. */
export class Turns {
  private readonly waiting = new Set<() => void>()
  private readonly now: () => number
  private isScheduled = false

  /** @param now milliseconds of a clock that does not go back */
  constructor(now: () => number = () => performance.now()) {
    this.now = now
  }

  /** Does a piece of work in a later turn, once, after those that wait already. */
  add(work: () => void): void {
    this.waiting.add(work)
    this.schedule()
  }

  private schedule(): void {
    if (this.isScheduled) return
    this.isScheduled = true
    setImmediate(() => {
      this.isScheduled = false
      this.run()
    })
  }

  /** Work that is added meanwhile has its turn after the others. */
  private run(): void {
    const endMs = this.now() + TURN_MS
    for (const work of this.waiting) {
      this.waiting.delete(work)
      work()
      if (this.now() >= endMs) break
    }
    if (this.waiting.size > 0) this.schedule()
  }
}
