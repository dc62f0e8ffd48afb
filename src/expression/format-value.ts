/**
 * Formats values as Go's `fmt` does with `%v`.
 * @module
 */
import { isList, isMap, type Value } from './value.ts'

/** Go writes floats with exponents outside this range in scientific notation. */
const EXPONENT_MIN = -4
const EXPONENT_MAX = 6

/** Formats a value: `<nil>`, `true`, `12`, `1e-05`, text as it is, `[a b]`, `map[a:1 b:2]`. */
export function formatValue(value: Value): string {
  if (value === undefined) return '<nil>'
  if (typeof value === 'number') return formatFloat(value)
  if (isList(value)) return `[${value.map(formatValue).join(' ')}]`
  if (isMap(value)) {
    const pairs = [...value].map(([key, item]) => `${formatValue(key)}:${formatValue(item)}`)
    return `map[${pairs.sort().join(' ')}]`
  }
  return String(value)
}

/** Formats a float with the fewest digits that parse back to it. */
export function formatFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  const sign = Object.is(value, -0) || value < 0 ? '-' : ''
  const [digits = '', exponentText = ''] = Math.abs(value).toExponential().split('e')
  const exponent = Number(exponentText)
  if (exponent < EXPONENT_MIN || exponent >= EXPONENT_MAX) {
    const power = String(Math.abs(exponent)).padStart(2, '0')
    return `${sign}${digits}e${exponent < 0 ? '-' : '+'}${power}`
  }
  const bare = digits.replace('.', '')
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${bare}`
  const whole = bare.slice(0, exponent + 1).padEnd(exponent + 1, '0')
  const rest = bare.slice(exponent + 1)
  return `${sign}${whole}${rest === '' ? '' : `.${rest}`}`
}
