/**
 * The bound of what an object names by two of its lists, such as addresses and ports: each can have
 * tens of thousands of items, and a record for each pair of them would fill the memory.
 * @module
 */

/** Most pairs of one object: 20 ports of each of the 1,000 endpoints that a slice may have. */
export const PAIRS_MAX = 20_000

/** Most pairs of a hostname and a port of one object; each pair has a name of its own. */
export const NAMES_MAX = 5000

/**
 * Returns the first items of a list that, with each of `count` others, are at most `pairsMax`
 * pairs; the same array if these are all.
 */
export function fitting<T>(
  items: readonly T[],
  count: number,
  pairsMax: number = PAIRS_MAX,
): readonly T[] {
  const most = Math.floor(pairsMax / Math.max(1, count))
  return items.length <= most ? items : items.slice(0, most)
}
