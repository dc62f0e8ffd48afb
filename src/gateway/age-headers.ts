/**
 * The header that tells how old the names in an answer are.
 * @module
 */

/** Its name; the value is in seconds. */
export const AGE_HEADER = 'kubedoh-snapshot-age'
/** Ages whose headers are kept. */
const AGES_MAX = 64

/** Makes it. */
export class AgeHeaders {
  private readonly byAge = new Map<number, Readonly<Record<string, string>>>()

  /** The same object for the same age, as whoever makes headers goes by it; none for `Infinity`. */
  of(ageMs: number): Readonly<Record<string, string>> {
    if (!Number.isFinite(ageMs)) return {}
    const seconds = Math.round(ageMs / 1000)
    const known = this.byAge.get(seconds)
    if (known !== undefined) return known
    if (this.byAge.size >= AGES_MAX) this.byAge.clear()
    const header = { [AGE_HEADER]: String(seconds) }
    this.byAge.set(seconds, header)
    return header
  }
}
