/**
 * Durations in flags: `30s`, `15m`, `12h`, `90d`.
 * @module
 */
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Parses a duration and returns seconds; `undefined` for other text. */
export function parseDuration(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  const factor = SECONDS[unit]
  return factor === undefined ? undefined : Number(digits) * factor
}
