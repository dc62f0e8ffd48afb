/**
 * Durations as people write them: `30s`, `15m`, `12h`, `90d`.
 * @module
 */
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Reads a duration in seconds; `undefined` when it is not one. */
export function parseDuration(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  const factor = SECONDS[unit]
  return factor === undefined ? undefined : Number(digits) * factor
}
