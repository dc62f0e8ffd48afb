/**
 * Draws from a seeded source.
 * @module
 */

/** A number from 0 to 1, the next of a sequence. */
export type Random = () => number

/** Draws one of some. */
export function pickFrom<T>(random: Random, list: readonly T[]): T {
  const one = list[Math.floor(random() * list.length)]
  if (one === undefined) throw new RangeError('there is nothing to draw from')
  return one
}

/** Draws so many of some, the same one several times too. */
export function someFrom<T>(random: Random, list: readonly T[], max: number): T[] {
  return Array.from({ length: Math.floor(random() * (max + 1)) }, () => pickFrom(random, list))
}
