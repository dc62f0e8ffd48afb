/**
 * A runtime's clocks, which stand still while one request is looked at: what is done for a request
 * asks for the time eight times, and to read it takes as long as to read a header.
 * @module
 */

/** Two clocks, as a `Host` has them. */
export type GatewayClock = {
  /** Milliseconds since 1970, by a clock that may step. */
  readonly now: () => number
  /** Milliseconds since some moment, by a clock that never goes back. */
  readonly elapsed: () => number
}

/** Clocks over others. */
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

  /** Runs what asks for the time at once, all of it at the same time. */
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
