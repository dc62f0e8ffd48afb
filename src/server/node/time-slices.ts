/**
 * Shares the event loop: splits bulk work over several turns of the loop, so that sockets are read
 * in between.
 * @module
 */

/** Time for bulk work in one turn of the loop, in milliseconds; the last task may exceed it. */
const SLICE_MS = 2

/**
 * What the work of a promise counts as, in milliseconds: it follows the task in the same turn,
 * where nobody can time it. 16 promises end a turn; without a bound, slow answers took one of 320
 * ms.
 */
const PROMISE_MS = SLICE_MS / 16

/** Does some work, and returns the number of promises that it started. */
type Task = () => number

/** Queues of tasks for later turns of the event loop. */
export class TimeSlices {
  private readonly first = new Set<Task>()
  private readonly waiting = new Set<Task>()
  private readonly now: () => number
  private isScheduled = false
  private spentMs = 0

  /** @param now milliseconds of a clock that does not go back */
  constructor(now: () => number = () => performance.now()) {
    this.now = now
  }

  /** Queues a task after the others; a task that is already queued stays where it is. */
  add(work: Task): void {
    this.waiting.add(work)
    this.schedule()
  }

  /** Runs a task now if this turn has time left, else before the tasks of `add`. */
  addFirst(work: Task): void {
    this.schedule()
    if (this.spentMs < SLICE_MS) this.spend(work)
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

  /** Runs tasks for one turn, at least one of each queue; tasks added meanwhile come last. */
  private run(): void {
    this.spentMs = 0
    for (const queue of [this.first, this.waiting]) {
      for (const work of queue) {
        queue.delete(work)
        this.spend(work)
        if (this.spentMs >= SLICE_MS) break
      }
    }
    this.spentMs = 0
    if (this.first.size + this.waiting.size > 0) this.schedule()
  }

  private spend(work: Task): void {
    const startMs = this.now()
    const promises = work()
    this.spentMs += this.now() - startMs + promises * PROMISE_MS
  }
}
