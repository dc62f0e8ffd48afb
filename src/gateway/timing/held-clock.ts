/**
 * The runtime's clocks, frozen while one request is admitted or answered: that reads the time eight
 * times, and reading the clock takes as long as reading a header.
 * @module
 */

/** The two clocks of a `Host`. */
export type GatewayClock = {
  /** Milliseconds since 1970, by the wall clock, which may step. */
  readonly now: () => number
  /** Milliseconds since some moment, by the monotonic clock. */
  readonly elapsed: () => number
}

/** Clocks that can be frozen. */
export class HeldClock implements GatewayClock {
  private readonly source: GatewayClock
  private isHeld = false
  private heldNowMs = 0
  private heldElapsedMs = 0

  constructor(source: GatewayClock) {
    this.source = source
  }

  readonly now = (): number => (this.isHeld ? this.heldNowMs : this.source.now())

  readonly elapsed = (): number => (this.isHeld ? this.heldElapsedMs : this.source.elapsed())

  /** Runs a synchronous function with the clocks frozen. */
  during<T>(run: () => T): T {
    this.heldNowMs = this.source.now()
    this.heldElapsedMs = this.source.elapsed()
    this.isHeld = true
    try {
      return run()
    } finally {
      this.isHeld = false
    }
  }
}
