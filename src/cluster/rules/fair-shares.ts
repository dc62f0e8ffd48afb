/**
 * What each namespace gets of something that all share: a part of a bound, or a turn. No namespace
 * decides what is left for the others.
 * @module
 */

/** The bounds of something that is counted. */
export type SharedBound = {
  /** The most that one namespace may have. */
  readonly eachMax: number
  /** The most that all namespaces together may have. */
  readonly wholeMax: number
}

/**
 * Returns the most that each namespace may have, so that all have at most `wholeMax`: the namespace
 * with the most loses first, then those that have as much as it is left with. With more namespaces
 * than `wholeMax`, the share is 1, and the caller decides which have it.
 * @param counts what each namespace wants
 */
export function fairShare(counts: Iterable<number>, { eachMax, wholeMax }: SharedBound): number {
  const wanted = Array.from(counts, (count) => Math.min(count, eachMax)).sort((a, b) => a - b)
  let left = wholeMax
  for (const [i, count] of wanted.entries()) {
    const sharers = wanted.length - i
    if (count * sharers > left) return Math.max(1, Math.floor(left / sharers))
    left -= count
  }
  return eachMax
}

/**
 * Returns items so that their namespaces take turns, each with its items in their order.
 * @param after the namespace that had the last turn: those after it come first
 */
export function inTurns<T>(
  items: readonly T[],
  namespaceOf: (item: T) => string,
  after = '',
): readonly T[] {
  const groups = [...Map.groupBy(items, namespaceOf)].sort(([a], [b]) => {
    return Number(a <= after) - Number(b <= after) || (a < b ? -1 : 1)
  })
  const most = groups.reduce((count, [, { length }]) => Math.max(count, length), 0)
  const turns: T[] = []
  for (let turn = 0; turn < most; turn++) {
    for (const [, own] of groups) turns.push(...own.slice(turn, turn + 1))
  }
  return turns
}
