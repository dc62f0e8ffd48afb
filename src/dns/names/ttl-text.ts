/**
 * TTLs in zone files: seconds, or with units (`1h30m`), as in BIND and CoreDNS.
 * @module
 */

const UNIT_SECONDS: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
}

const WHOLE = /^\d+(?:[smhdw]\d+)*[smhdw]?$/i
const PART = /(\d+)([smhdw]?)/gi

/** Parses `3600`, `1h` or `1h30m` into seconds; `undefined` for other text and over 32 bits. */
export function parseTtl(text: string): number | undefined {
  if (!WHOLE.test(text)) return undefined
  let seconds = 0
  for (const [, amount, unit = ''] of text.matchAll(PART)) {
    seconds += Number(amount) * (UNIT_SECONDS[unit.toLowerCase()] ?? 1)
  }
  return seconds <= 0xffffffff ? seconds : undefined
}
