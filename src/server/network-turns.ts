/**
 * Shares the event loop between clients: a client that sends much at once waits for its own
 * requests, not others for them.
 * @module
 */

/** Time for the work of one turn of the event loop, in milliseconds; one piece may exceed it. */
const TURN_MS = 2

/** Does pieces of work, one per client network in turn. */
export class NetworkTurns {
  /** The first and the last piece of each network. */
  private readonly waiting = new Map<string, { first: Piece; last: Piece }>()
  private readonly now: () => number
  private isScheduled = false
  private spentMs = 0

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.now = now
  }

  /** Runs a piece of work at once while this turn has time, else in the order of the networks. */
  take(network: string, work: () => void): void {
    if (this.spentMs < TURN_MS && this.waiting.size === 0) {
      this.schedule()
      this.spend(work)
      return
    }
    const piece: Piece = { work, next: undefined }
    const queue = this.waiting.get(network)
    if (queue === undefined) this.waiting.set(network, { first: piece, last: piece })
    else {
      queue.last.next = piece
      queue.last = piece
    }
  }

  private schedule(): void {
    if (this.isScheduled) return
    this.isScheduled = true
    setImmediate(() => {
      this.isScheduled = false
      this.run()
    })
  }

  /** Runs at least one piece. Each network goes to the end of the line after its piece. */
  private run(): void {
    this.spentMs = 0
    for (const [network, queue] of this.waiting) {
      this.waiting.delete(network)
      const { work, next } = queue.first
      // A piece that is done, but not collected yet, would keep all that come after it.
      queue.first.next = undefined
      if (next !== undefined) {
        queue.first = next
        this.waiting.set(network, queue)
      }
      this.spend(work)
      if (this.spentMs >= TURN_MS) break
    }
    if (this.waiting.size > 0) this.schedule()
    else this.spentMs = 0
  }

  private spend(work: () => void): void {
    const startMs = this.now()
    work()
    this.spentMs += this.now() - startMs
  }
}

/** A piece of work, and the one after it. */
type Piece = { readonly work: () => void; next: Piece | undefined }
