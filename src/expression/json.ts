/**
 * Values as JSON, both ways, as Go's `encoding/json` has them: numbers are floating-point ones when
 * read, maps are sorted when written.
 * @module
 */

import { ExpressionError } from './errors.ts'
import { formatFloat } from './format-value.ts'
import { formatTime } from './time-layout.ts'
import { Location, Time } from './time-values.ts'
import { isList, isMap, typeName, type Value } from './value.ts'

const INDENT = '  '
const RFC3339_NANO = '2006-01-02T15:04:05.999999999Z07:00'

/** Writes a value with two blanks a level. @throws {ExpressionError} when JSON has no such value */
export function writeJson(value: Value, indent = ''): string {
  if (value === undefined) return 'null'
  if (typeof value === 'string') return writeText(value)
  if (typeof value === 'number') return writeFloat(value)
  if (isList(value)) {
    return block('[]', indent, (inner) => value.map((item) => writeJson(item, inner)))
  }
  if (value instanceof Time) return writeText(formatTime(value, RFC3339_NANO))
  if (value instanceof Location) return '{}'
  if (typeof value === 'object' && !isMap(value)) return String(value.key)
  if (!isMap(value)) return String(value)
  return block('{}', indent, (inner) => {
    const pairs = [...value].map(([key, item]): [string, Value] => [keyText(key), item])
    const sorted = pairs.sort(([a], [b]) => (a < b ? -1 : 1))
    return sorted.map(([key, item]) => `${writeText(key)}: ${writeJson(item, inner)}`)
  })
}

/** Reads JSON. @throws {ExpressionError} when it is none */
export function parseJson(text: string): Value {
  try {
    return fromJson(JSON.parse(text))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new ExpressionError('"fromJSON" takes JSON only')
  }
}

function block(brackets: string, indent: string, items: (inner: string) => string[]): string {
  const inner = indent + INDENT
  const lines = items(inner)
  if (lines.length === 0) return brackets
  const text = lines.join(`,\n${inner}`)
  return `${brackets.charAt(0)}\n${inner}${text}\n${indent}${brackets.charAt(1)}`
}

function keyText(key: Value): string {
  if (typeof key === 'string' || typeof key === 'bigint') return String(key)
  throw new ExpressionError(`JSON has no ${typeName(key)} for a key`)
}

/** Go also escapes what has a meaning in HTML. */
function writeText(text: string): string {
  return JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function writeFloat(value: number): string {
  if (!Number.isFinite(value)) {
    throw new ExpressionError(`JSON has no ${formatFloat(value)}`)
  }
  return JSON.stringify(value)
}

function fromJson(value: unknown): Value {
  if (Array.isArray(value)) return value.map(fromJson)
  if (typeof value === 'object' && value !== null) {
    return new Map(Object.entries(value).map(([key, item]) => [key, fromJson(item)]))
  }
  const isScalar = typeof value === 'string' || typeof value === 'number'
  return isScalar || typeof value === 'boolean' ? value : undefined
}
