/**
 * How many bytes of shards a request carries.
 * @module
 */

/** At first, and on a slow line: half a minute must do for a request. */
const BYTES_FIRST = 2 * 1024 * 1024
/** Once requests are quick; the gateway takes 16 MiB, and a Worker has 128 MB of memory. */
const BYTES_MAX = 8 * 1024 * 1024
/** A request that takes less is quick: one with twice the bytes has time enough. */
const QUICK_MS = 5000

/** The bytes for the next request, which grow while full requests are quick. */
export class BatchSize {
  private current = BYTES_FIRST
  private bytesMax = BYTES_MAX

  /** At most so many bytes, or one shard that is larger. */
  get bytes(): number {
    return this.current
  }

  /** Notes how long a full request took. */
  took(durationMs: number): void {
    this.current = durationMs < QUICK_MS ? Math.min(2 * this.current, this.bytesMax) : BYTES_FIRST
  }

  /** Notes that a request failed. */
  failed(): void {
    this.current = BYTES_FIRST
  }

  /**
   * Notes that a gateway, or a proxy before it, takes no such body.
   * @returns whether a smaller one may do
   */
  refused(): boolean {
    const isLarge = this.current > BYTES_FIRST
    this.bytesMax = BYTES_FIRST
    this.current = BYTES_FIRST
    return isLarge
  }
}
