/**
 * Random numbers for message IDs.
 * @module
 */

const drawn = new Uint16Array(32_768)
let drawnLeft = 0

/** Returns an unpredictable number from 0 to 65535. Draws many at a time. */
export function random16(): number {
  if (drawnLeft === 0) {
    crypto.getRandomValues(drawn)
    drawnLeft = drawn.length
  }
  return drawn[--drawnLeft] ?? 0
}
