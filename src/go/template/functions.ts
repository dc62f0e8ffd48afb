/**
 * Functions of templates: Go's own and CoreDNS's `parseInt` (Go, text/template/funcs.go; CoreDNS,
 * plugin/template). The executor implements `and` and `or`, which stop early.
 * @module
 */
import {
  type ArgumentKind,
  type Datum,
  goType,
  isDatumList,
  isMapDatum,
  isTruthy,
  Struct,
  TemplateError,
  TextMap,
} from './datum.ts'
import { parseDigits } from './go-quote.ts'
import { sprint, sprintf, sprintln } from './printf.ts'

/** A function of templates. */
export type TemplateFunction = {
  readonly takes: readonly ArgumentKind[]
  /** Whether the last argument may repeat. */
  readonly isOpen: boolean
  /** @throws {TemplateError} */
  readonly call: (args: readonly Datum[]) => Datum
}

/** The functions by name. */
export const TEMPLATE_FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map([
  ['and', lazy()],
  ['or', lazy()],
  ['index', open(['any'], ([item, ...keys]) => keys.reduce(indexed, known(item, 'index')))],
  ['len', fixed(['any'], ([item]) => BigInt(lengthOf(item)))],
  ['not', fixed(['any'], ([item]) => !isTruthy(item))],
  ['parseInt', fixed(['string', 'int', 'int'], parseUint)],
  ['print', open([], sprint)],
  ['printf', open(['string'], ([format, ...args]) => sprintf(String(format), args))],
  ['println', open([], sprintln)],
  ['slice', open(['any'], ([item, ...ends]) => sliced(known(item, 'slice'), ends))],
  ['eq', open(['any', 'any'], ([first, ...others]) => others.some((one) => equal(first, one)))],
  ['ne', fixed(['any', 'any'], ([a, b]) => !equal(a, b))],
  ['lt', fixed(['any', 'any'], ([a, b]) => less(a, b))],
  ['le', fixed(['any', 'any'], ([a, b]) => less(a, b) || equal(a, b))],
  ['gt', fixed(['any', 'any'], ([a, b]) => !less(a, b) && !equal(a, b))],
  ['ge', fixed(['any', 'any'], ([a, b]) => !less(a, b))],
])

function fixed(takes: readonly ArgumentKind[], call: TemplateFunction['call']): TemplateFunction {
  return { takes, isOpen: false, call }
}

/** Creates a function whose last argument may repeat. */
function open(takes: readonly ArgumentKind[], call: TemplateFunction['call']): TemplateFunction {
  return { takes, isOpen: true, call }
}

function lazy(): TemplateFunction {
  return open(['any'], (args) => args.at(-1))
}

function known(item: Datum, what: string): Datum {
  if (item === undefined) throw new TemplateError(`"${what}" of nil`)
  return item
}

function indexed(item: Datum, key: Datum): Datum {
  if (item instanceof TextMap) {
    if (typeof key !== 'string') throw new TemplateError(`${goType(key)} is not a map key`)
    return item.entries.get(key) ?? ''
  }
  if (isMapDatum(item)) {
    if (typeof key !== 'string') throw new TemplateError(`${goType(key)} is not a map key`)
    return item.get(key)
  }
  if (typeof item === 'string') {
    const bytes = new TextEncoder().encode(item)
    return BigInt(bytes[position(key, bytes.length - 1)] ?? 0)
  }
  if (isDatumList(item)) return item[position(key, item.length - 1)]
  throw new TemplateError(`${goType(item)} has no elements`)
}

function position(value: Datum, max: number): number {
  if (typeof value !== 'bigint') throw new TemplateError(`${goType(value)} is not an index`)
  if (value < 0n || value > max) throw new TemplateError(`index ${value} is out of range`)
  return Number(value)
}

function sliced(item: Datum, ends: readonly Datum[]): Datum {
  if (typeof item !== 'string' && !isDatumList(item)) {
    throw new TemplateError(`${goType(item)} cannot be sliced`)
  }
  if (ends.length > (typeof item === 'string' ? 2 : 3)) throw new TemplateError('too many indexes')
  const { length } = item
  const [from = 0, to = length, capacity = length] = ends.map((end) => position(end, length))
  if (from > to || to > capacity) throw new TemplateError(`${from} to ${to} is not a valid slice`)
  return item.slice(from, to)
}

function lengthOf(item: Datum): number {
  if (typeof item === 'string') return new TextEncoder().encode(item).length
  if (isDatumList(item)) return item.length
  if (item instanceof TextMap) return item.entries.size
  if (isMapDatum(item)) return item.size
  throw new TemplateError(`${goType(item)} has no length`)
}

/** Compares two values. As in Go, integers and floats do not compare, nor do lists and maps. */
function equal(a: Datum, b: Datum): boolean {
  if (a === undefined || b === undefined) return a === b
  const isPlain = typeof a !== 'object' && typeof a === typeof b
  if (isPlain || (a instanceof Struct && b instanceof Struct)) return a === b
  throw new TemplateError(`${goType(a)} and ${goType(b)} cannot be compared`)
}

function less(a: Datum, b: Datum): boolean {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a < b
  if (typeof a === 'number' && typeof b === 'number') return a < b
  if (typeof a === 'string' && typeof b === 'string') return a < b
  throw new TemplateError(`${goType(a)} and ${goType(b)} have no order`)
}

/** Implements Go's `strconv.ParseUint` for bases 2 to 36, or 0 to read the base from a prefix. */
function parseUint([text, base, bits]: readonly Datum[]): Datum {
  const digits = String(text)
  const radix = Number(base)
  const size = bits === 0n ? 64n : BigInt(Number(bits))
  if (radix !== 0 && (radix < 2 || radix > 36)) throw new TemplateError(`${radix} is not a base`)
  if (size < 0n || size > 64n) throw new TemplateError(`${size} is not a number of bits`)
  const value = radix === 0 ? parsePrefixed(digits) : parseDigits(digits, radix)
  if (value === undefined) throw new TemplateError(`"${digits}" is not a number of base ${radix}`)
  if (value >= 2n ** size) throw new TemplateError(`${value} is over ${size} bits`)
  return value
}

function parsePrefixed(text: string): bigint | undefined {
  const [, prefix = '', digits = ''] = /^(0[xXoObB]|0(?=\d))?(\w*)$/.exec(text) ?? []
  const radix = { '0x': 16, '0o': 8, '0b': 2, '0': 8 }[prefix.toLowerCase()] ?? 10
  return parseDigits(digits.replaceAll('_', ''), radix)
}
