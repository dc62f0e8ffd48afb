/**
 * A clock that stands still while one request is looked at: what is done for a request asks for the
 * time eight times, and to read it takes as long as to read a header.
 * @module
 */

/** A clock over another one. */
export class HeldClock {
  private readonly source: () => number
  private isHeld = false
  private heldMs = 0

  /** @param source tells milliseconds since 1970 */
  constructor(source: () => number) {
    this.source = source
  }

  /** Milliseconds since 1970. */
  readonly now = (): number => (this.isHeld ? this.heldMs : this.source())

  /** Runs what asks for the time at once, all of it at the same time. */
  during<T>(run: () => T): T {
    this.heldMs = this.source()
    this.isHeld = true
    try {
      return run()
    } finally {
      this.isHeld = false
    }
  }
}
