/**
 * `$GENERATE` of zone files: a line for each number of a range, as in BIND and CoreDNS.
 * @module
 */

/** An inclusive range of numbers. */
export type NumberRange = { readonly first: number; readonly last: number; readonly step: number }

/** Most lines of one directive. */
const LINES_MAX = 65_536
const NUMBER_MAX = 0x7fffffff
const WIDTH_MAX = 255

/** Parses `1-10` or `1-10/2`; `undefined` if it is invalid or has over 65,536 numbers. */
export function parseRange(text: string): NumberRange | undefined {
  const [, ...digits] = /^(\d{1,10})-(\d{1,10})(?:\/(\d{1,10}))?$/.exec(text) ?? []
  if (digits.length === 0) return undefined
  const [first = 0, last = 0, step = 1] = digits.map((some) => Number(some ?? 1))
  if (last < first || last > NUMBER_MAX || step < 1) return undefined
  return (last - first) / step < LINES_MAX ? { first, last, step } : undefined
}

/**
 * Returns the line for a number: `$` stands for the number, `${OFFSET,WIDTH,BASE}` for the number
 * plus an offset, padded with zeros, in a base (d, o, x or X); `$$` and `\$` for a dollar.
 * `undefined` if a part in braces is invalid, or gives a number below 0 or over 31 bits.
 */
export function generateLine(template: string, number: number): string | undefined {
  let isSound = true
  const line = template.replace(/\\\$|\$\$|\$(?:\{([^}]*)\}?)?/g, (whole, modifier?: string) => {
    if (whole === '\\$' || whole === '$$') return '$'
    const text =
      whole.startsWith('${') && !whole.endsWith('}') ? undefined : spell(number, modifier)
    if (text === undefined) isSound = false
    return text ?? ''
  })
  return isSound ? line : undefined
}

function spell(number: number, modifier = '0'): string | undefined {
  const match = /^([-+]?\d{1,10})(?:,(\d{1,3})(?:,([doxX]))?)?$/.exec(modifier)
  if (match === null) return undefined
  const [, offset = '0', width = '0', base = 'd'] = match
  const value = number + Number(offset)
  if (value < 0 || value > NUMBER_MAX || Number(width) > WIDTH_MAX) return undefined
  const radix = base === 'd' ? 10 : base === 'o' ? 8 : 16
  const digits = value.toString(radix).padStart(Number(width), '0')
  return base === 'X' ? digits.toUpperCase() : digits
}
