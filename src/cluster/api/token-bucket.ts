/**
 * Limits how often something is done.
 * @module
 */

/** A bucket of tokens, one for each action, refilled over time and full at first. */
export class TokenBucket {
  private readonly perMs: number
  private readonly tokensMax: number
  private readonly now: () => number
  /** Negative: waiting callers have taken tokens in advance. */
  private tokens: number
  private filledMs: number

  /** @param now returns milliseconds of a monotonic clock */
  constructor(perSecond: number, tokensMax: number, now: () => number) {
    this.perMs = perSecond / 1000
    this.tokensMax = tokensMax
    this.tokens = tokensMax
    this.now = now
    this.filledMs = now()
  }

  /** Returns the milliseconds until a token is available. */
  delayMs(): number {
    const nowMs = this.now()
    const gained = Math.max(0, nowMs - this.filledMs) * this.perMs
    this.tokens = Math.min(this.tokensMax, this.tokens + gained)
    this.filledMs = nowMs
    return Math.max(0, (1 - this.tokens) / this.perMs)
  }

  /** Whether it has all tokens, as a new one. */
  get isFull(): boolean {
    this.delayMs()
    return this.tokens >= this.tokensMax
  }

  /** Takes a token, in advance if none is available. @returns the milliseconds until it is */
  take(): number {
    const delayMs = this.delayMs()
    this.tokens--
    return delayMs
  }
}
