/**
 * Unpredictable numbers.
 * @module
 */

const drawn = new Uint16Array(32_768)
let drawnLeft = 0

/** An unpredictable number from 0 to 65535, for message IDs. Numbers are drawn many at a time. */
export function random16(): number {
  if (drawnLeft === 0) {
    crypto.getRandomValues(drawn)
    drawnLeft = drawn.length
  }
  return drawn[--drawnLeft] ?? 0
}
