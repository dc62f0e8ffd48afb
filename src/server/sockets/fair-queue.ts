/**
 * Shares the event loop fairly between clients: a client that sends many requests at once delays
 * its own, not those of others.
 * @module
 */

/** Milliseconds of work per iteration of the event loop; a single task may exceed it. */
const SLICE_MS = 2

/** Runs tasks round-robin: one per client network. */
export class FairQueue {
  /** The first and last task of each network. */
  private readonly waiting = new Map<string, { first: Task; last: Task }>()
  private readonly now: () => number
  private isScheduled = false
  private spentMs = 0

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.now = now
  }

  /** Whether `run` would run a task at once. */
  get hasTime(): boolean {
    return this.spentMs < SLICE_MS && this.waiting.size === 0
  }

  /** Runs a task in this iteration. @returns what it returns */
  runNow<T>(work: () => T, followingMs: number): T {
    this.schedule()
    const startMs = this.now()
    const result = work()
    this.spentMs += this.now() - startMs + followingMs
    return result
  }

  /**
   * Runs a task at once while this iteration has time left, otherwise in its network's turn.
   * @param followingMs milliseconds of work that the task causes after its end
   */
  run(network: string, work: () => void, followingMs = 0): void {
    if (this.hasTime) {
      this.runNow(work, followingMs)
      return
    }
    const task: Task = { work, followingMs, next: undefined }
    const queue = this.waiting.get(network)
    if (queue === undefined) this.waiting.set(network, { first: task, last: task })
    else {
      queue.last.next = task
      queue.last = task
    }
  }

  private schedule(): void {
    if (this.isScheduled) return
    this.isScheduled = true
    setImmediate(() => {
      this.isScheduled = false
      this.runSlice()
    })
  }

  /** Runs at least one task. After its task, a network goes to the end of the queue. */
  private runSlice(): void {
    this.spentMs = 0
    for (const [network, queue] of this.waiting) {
      this.waiting.delete(network)
      const { first } = queue
      const { next } = first
      // Unlinked, so that a finished task does not keep the later ones reachable.
      first.next = undefined
      if (next !== undefined) {
        queue.first = next
        this.waiting.set(network, queue)
      }
      this.runNow(first.work, first.followingMs)
      if (this.spentMs >= SLICE_MS) break
    }
    if (this.waiting.size > 0) this.schedule()
    else this.spentMs = 0
  }
}

/** A task, and the next one of the same network. */
type Task = {
  readonly work: () => void
  readonly followingMs: number
  next: Task | undefined
}
