/**
 * Signature times: seconds since 1970 in 32 bits, in text `YYYYMMDDHHmmSS` in UTC (RFC 4034 §3.1.5,
 * §3.2). They wrap around in 2106.
 * @module
 */

const DIGITS = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/

/** Formats a time. */
export function formatSignatureTime(seconds: number): string {
  return new Date(1000 * seconds).toISOString().replace(/\.\d+Z$|[-T:]/g, '')
}

/** Parses fourteen digits as a date, up to ten as seconds; `undefined` for other text. */
export function parseSignatureTime(text: string): number | undefined {
  if (/^\d{1,10}$/.test(text)) {
    const seconds = Number(text)
    return seconds <= 0xffffffff ? seconds : undefined
  }
  const [, ...parts] = DIGITS.exec(text) ?? []
  const [year, month, day, hour, minute, second] = parts.map(Number)
  if (second === undefined) return undefined
  const ms = Date.UTC(year ?? 0, (month ?? 0) - 1, day, hour, minute, second)
  const seconds = Math.floor(ms / 1000)
  // An invalid date such as 31 February formats as another one.
  const isDate = seconds >= 0 && new Date(ms).toISOString().replace(/\D/g, '').startsWith(text)
  return isDate ? seconds % 2 ** 32 : undefined
}
