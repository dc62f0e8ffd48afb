/**
 * Header fields of HTTP/2 responses in the form that costs `node:http2` least: one array for all
 * responses with the same headers. From an object it makes another object first.
 * @module
 */

/** Where the values of `:status` and `date` are in each array. */
const STATUS = 1
const DATE = 3

/** Arrays of fields, by headers. */
export class ResponseFields {
  private readonly known = new WeakMap<object, string[]>()
  private readonly now: () => number
  private second = 0
  private date = ''

  /** @param now milliseconds since 1970 */
  constructor(now: () => number = Date.now) {
    this.now = now
  }

  /** Returns names and values in turn, for use before the next call. */
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

  /** Returns the time in HTTP's form (RFC 9110 §5.6.7). */
  private today(): string {
    const second = Math.floor(this.now() / 1000)
    if (second !== this.second) {
      this.second = second
      this.date = new Date(second * 1000).toUTCString()
    }
    return this.date
  }
}
