/**
 * Record classes (RFC 1035 §3.2.4, RFC 6895 §3.2).
 * @module
 */

/** The classes with a name. */
export const CLASS = { IN: 1, CS: 2, CH: 3, HS: 4, NONE: 254, ANY: 255 } as const

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(CLASS).map(([name, value]) => [value, name]),
)
const VALUES: ReadonlyMap<string, number> = new Map(Object.entries(CLASS))

/** Formats a class as its mnemonic, or as `CLASS` and its number (RFC 3597 §5). */
export function formatClass(value: number): string {
  return NAMES.get(value) ?? `CLASS${value}`
}

/** Parses a mnemonic, ignoring case, or `CLASSnnn`; `undefined` for other text. */
export function parseClass(text: string): number | undefined {
  const upper = text.toUpperCase()
  const known = VALUES.get(upper)
  if (known !== undefined) return known
  const digits = /^CLASS(\d{1,5})$/.exec(upper)?.[1]
  if (digits === undefined || Number(digits) > 65535) return undefined
  return Number(digits)
}
