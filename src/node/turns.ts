/**
 * Shares the event loop: work that comes in bulk is done a little in each turn of the loop, so that
 * sockets are read in between.
 * @module
 */

/** Time for such work in one turn, in milliseconds; one piece may take it further. */
const TURN_MS = 2

/** Pieces of work, done in turn. */
export class Turns {
  private readonly first = new Set<() => void>()
  private readonly waiting = new Set<() => void>()
  private readonly now: () => number
  private isScheduled = false
  private spentMs = 0

  /** @param now milliseconds of a clock that does not go back */
  constructor(now: () => number = () => performance.now()) {
    this.now = now
  }

  /** Does a piece of work in a later turn, once, after those that wait already. */
  add(work: () => void): void {
    this.waiting.add(work)
    this.schedule()
  }

  /** Does a piece of work at once while this turn has time, else before what `add` was given. */
  addFirst(work: () => void): void {
    this.schedule()
    if (this.spentMs < TURN_MS) this.spend(work)
    else this.first.add(work)
  }

  private schedule(): void {
    if (this.isScheduled) return
    this.isScheduled = true
    setImmediate(() => {
      this.isScheduled = false
      this.run()
    })
  }

  /** Work that is added meanwhile has its turn after the others; at least one of each is done. */
  private run(): void {
    this.spentMs = 0
    for (const queue of [this.first, this.waiting]) {
      for (const work of queue) {
        queue.delete(work)
        this.spend(work)
        if (this.spentMs >= TURN_MS) break
      }
    }
    this.spentMs = 0
    if (this.first.size + this.waiting.size > 0) this.schedule()
  }

  private spend(work: () => void): void {
    const startMs = this.now()
    work()
    this.spentMs += this.now() - startMs
  }
}
