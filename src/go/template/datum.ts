/**
 * Values of template expressions, including objects with fields.
 * @module
 */
import { formatValue, isMap, typeName, type Value } from '../expression/value.ts'

/** A value in a template; `undefined` for none. */
export type Datum =
  | undefined
  | boolean
  | bigint
  | number
  | string
  | readonly Datum[]
  | ReadonlyMap<Value, Value>
  | TextMap
  | Struct

/** A parse or execution error in a template; the message is for the operator. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
}

/** A map of texts; an index returns '' for a missing key. */
export class TextMap {
  readonly entries: ReadonlyMap<string, string>

  constructor(entries: ReadonlyMap<string, string>) {
    this.entries = entries
  }
}

/** A field, or a method with arguments. */
export type Member = {
  readonly takes: readonly ArgumentKind[]
  /** @throws {TemplateError} */
  readonly call: (...args: readonly Datum[]) => Datum
}

/** The type of an argument. */
export type ArgumentKind = 'any' | 'string' | 'int'

/** An object with fields and methods. */
export class Struct {
  readonly typeName: string
  /** Whether it is a nil pointer, which has a type but no fields. */
  readonly isNil: boolean
  private readonly members: ReadonlyMap<string, Member>
  private readonly text: (() => string) | undefined

  /**
   * @param members fields and methods; `undefined` for a nil pointer
   * @param text prints the object; `undefined` if printing is not supported
   */
  constructor(
    typeName: string,
    members: Readonly<Record<string, Member>> | undefined,
    text?: () => string,
  ) {
    this.typeName = typeName
    this.isNil = members === undefined
    this.members = new Map(Object.entries(members ?? {}))
    this.text = text
  }

  member(name: string): Member | undefined {
    return this.members.get(name)
  }

  /** @throws {TemplateError} if printing is not supported */
  print(): string {
    if (this.text === undefined) throw new TemplateError(`a ${this.typeName} cannot be printed`)
    return this.text()
  }
}

/** Creates a field. */
export function field(read: () => Datum): Member {
  return { takes: [], call: read }
}

/** Whether a value is a list. */
export function isDatumList(value: Datum): value is readonly Datum[] {
  return Array.isArray(value)
}

/** Returns the name of a value's type as in Go's messages. */
export function goType(value: Datum): string {
  if (value instanceof Struct) return value.typeName
  if (value instanceof TextMap) return 'map[string]string'
  if (typeof value === 'number') return 'float64'
  if (value === undefined) return '<nil>'
  if (isDatumList(value)) {
    return value.every((item) => typeof item === 'string') ? '[]string' : '[]interface {}'
  }
  return isMap(value) ? 'map[string]interface {}' : typeName(value)
}

/** Returns the truth of a value: false for nil, zero and empty values. */
export function isTruthy(value: Datum): boolean {
  if (value instanceof Struct) return !value.isNil
  if (value instanceof TextMap) return value.entries.size > 0
  if (isDatumList(value)) return value.length > 0
  if (isMap(value)) return value.size > 0
  return Boolean(value) && value !== 0n
}

/** Formats a value as an action prints it. @throws {TemplateError} if it cannot be printed */
export function printDatum(value: Datum): string {
  return value === undefined ? '<no value>' : formatDatum(value)
}

/** Formats a value as Go's `%v`. @throws {TemplateError} if it cannot be printed */
export function formatDatum(value: Datum): string {
  if (value instanceof Struct) return value.print()
  if (value instanceof TextMap) return formatValue(value.entries)
  if (isDatumList(value)) return `[${value.map(formatDatum).join(' ')}]`
  return formatValue(value)
}

/** Returns the entries of a list, or of a map sorted by key; `undefined` for other values. */
export function entriesOf(
  value: Datum,
): readonly (readonly [key: Datum, item: Datum])[] | undefined {
  if (isDatumList(value)) return value.map((item, i) => [BigInt(i), item])
  const map = value instanceof TextMap ? value.entries : isMapDatum(value) ? value : undefined
  return map && [...map].sort(([a], [b]) => (formatValue(a) < formatValue(b) ? -1 : 1))
}

/** Whether a value is a map from an expression. */
export function isMapDatum(value: Datum): value is ReadonlyMap<Value, Value> {
  return value instanceof Map
}
