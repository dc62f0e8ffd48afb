/**
 * Caches the header fields of HTTP/2 responses as arrays, one for all responses with the same
 * headers: `node:http2` copies an object before it encodes it, but not an array.
 * @module
 */

/** Indices of the values of `:status` and `date`. */
const STATUS = 1
const DATE = 3

/** Arrays of fields by their headers object. */
export class ResponseFields {
  private readonly known = new WeakMap<object, string[]>()
  private readonly now: () => number
  private second = 0
  private date = ''

  /** @param now milliseconds since 1970 */
  constructor(now: () => number = Date.now) {
    this.now = now
  }

  /** Returns alternating names and values, valid until the next call. */
  of(status: number, headers: Readonly<Record<string, string>>): string[] {
    let fields = this.known.get(headers)
    if (fields === undefined) {
      fields = [':status', '', 'date', '', ...Object.entries(headers).flat()]
      this.known.set(headers, fields)
    }
    fields[STATUS] = String(status)
    fields[DATE] = this.today()
    return fields
  }

  /** Returns the current date as an HTTP-date (RFC 9110 §5.6.7). */
  private today(): string {
    const second = Math.floor(this.now() / 1000)
    if (second !== this.second) {
      this.second = second
      this.date = new Date(second * 1000).toUTCString()
    }
    return this.date
  }
}
