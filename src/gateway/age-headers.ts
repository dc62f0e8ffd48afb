/**
 * The response header with the age of the names in an answer.
 * @module
 */

/** Name of the header; its value is in seconds. */
export const AGE_HEADER = 'kubedoh-snapshot-age'
/** Most ages whose headers are kept. */
const AGES_MAX = 64

/** Creates the headers. */
export class AgeHeaders {
  private readonly byAge = new Map<number, Readonly<Record<string, string>>>()

  /**
   * Returns the same object for the same second: the cache of response headers goes by identity.
   * Returns no header for `Infinity`.
   */
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
