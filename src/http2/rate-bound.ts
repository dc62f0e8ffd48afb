/**
 * A bound on how often something may happen: so many at once, and so many a second in the long run.
 * @module
 */
import type { RateBoundOptions } from './bounds.ts'

/** Counts one kind of event on one connection. */
export class RateBound {
  private readonly burst: number
  private readonly perMs: number
  private left: number
  private countedMs: number

  constructor({ burst, perSecond }: RateBoundOptions, nowMs: number) {
    this.burst = burst
    this.perMs = perSecond / 1000
    this.left = burst
    this.countedMs = nowMs
  }

  /** Counts one event. @returns whether it is within the bound */
  allows(nowMs: number): boolean {
    if (nowMs > this.countedMs) {
      this.left = Math.min(this.burst, this.left + (nowMs - this.countedMs) * this.perMs)
      this.countedMs = nowMs
    }
    if (this.left < 1) return false
    this.left--
    return true
  }
}
