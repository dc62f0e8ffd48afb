/**
 * Event loops for tests of work in slices.
 * @module
 */
import type { Turns } from '../src/dns/bytes/steps.ts'

/** A loop on which no time passes, so that nothing pauses. */
export const NO_TIME: Turns = {
  elapsed: () => 0,
  nextTurn: () => Promise.resolve(),
}

/** A loop that counts its turns; each look at the clock takes two milliseconds. */
export class CountedTurns implements Turns {
  turns = 0
  private nowMs = 0

  readonly elapsed = (): number => {
    this.nowMs += 2
    return this.nowMs
  }

  readonly nextTurn = async (): Promise<void> => {
    this.turns++
  }
}
