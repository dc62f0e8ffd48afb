/**
 * How much the client may still send of DATA, on a stream or on the whole connection
 * (RFC 9113 §6.9).
 * @module
 */
import { WINDOW_BYTES_DEFAULT } from './bounds.ts'

/** One window, as large as when nobody says. */
export class ReceiveWindow {
  private left = WINDOW_BYTES_DEFAULT
  private consumed = 0

  /** Whether the client may send anything. */
  get isOpen(): boolean {
    return this.left > 0
  }

  /** Counts bytes that came. @returns whether they were within the window */
  take(size: number): boolean {
    this.left -= size
    return this.left >= 0
  }

  /**
   * Counts bytes that nobody holds any more. @returns how much to open the window by, now that it
   * is worth a frame; else 0
   */
  credit(size: number): number {
    this.consumed += size
    if (2 * this.consumed < WINDOW_BYTES_DEFAULT) return 0
    const increment = this.consumed
    this.left += increment
    this.consumed = 0
    return increment
  }
}
