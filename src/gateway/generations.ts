/**
 * Which of a cluster's generations a store keeps, so that an operator can go back to one.
 * @module
 */

/** A generation: its number, and when its exporter last confirmed it. */
export type Generation = { readonly generation: number; readonly timeMs: number }

/** The newest are all kept; older ones at intervals, so that they reach back for hours. */
const NEWEST_KEPT = 5
const APART_MS = 10 * 60 * 1000

/**
 * Chooses the generations to keep: the newest five, and older ones at least ten minutes apart,
 * counted from the oldest, `max` in all.
 * @param all sorted, the newest first
 */
export function chooseKept(all: readonly Generation[], max: number): Generation[] {
  const newest = all.slice(0, Math.min(NEWEST_KEPT, max))
  const older: Generation[] = []
  for (const one of all.slice(newest.length).toReversed()) {
    const last = older.at(-1)
    if (last === undefined || one.timeMs - last.timeMs >= APART_MS) older.push(one)
  }
  const room = max - newest.length
  return [...newest, ...older.slice(Math.max(0, older.length - room)).toReversed()]
}
