/**
 * Which of a cluster's older generations are kept, so that one can be gone back to.
 * @module
 */

/** A generation: its number, and when its source last confirmed it. */
export type Generation = { readonly generation: number; readonly timeMs: number }

/** Of the newest, all are kept; of those before, few enough to reach back for hours. */
const NEWEST_KEPT = 5
const APART_MS = 10 * 60 * 1000

/**
 * Chooses the generations to keep: the newest five, and before them such as are ten minutes apart,
 * counted from the oldest on, `max` in all.
 * @param all the newest first
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
