/**
 * Reads fields of objects of unknown shape.
 * @module
 */
import { isRecord } from '../../dns/bytes/unknown.ts'
import type { Labels } from './objects.ts'

/** Shared, as a map without entries takes 180 bytes. */
const NO_LABELS: Labels = new Map()

/** A field has a type or value that the API does not allow. */
export class FieldError extends Error {
  override readonly name = 'FieldError'
}

/** Where an object is: most paths are never needed, so they are not written in advance. */
type Place = { readonly parent: Fields; readonly name: string; readonly index?: number }

/** Fields of an object that may be missing or `null`; a field of another type is an error. */
export class Fields {
  private readonly values: Readonly<Record<string, unknown>>
  private readonly place: Place | undefined

  /** @param place of the object in an outer one; `undefined` for the outermost */
  constructor(value: unknown, place?: Place) {
    this.place = place
    if (value === undefined || value === null) this.values = {}
    else if (isRecord(value)) this.values = value
    else throw this.error('', value, 'an object')
  }

  /** Returns whether a field is an empty object or list. */
  isEmpty(name: string): boolean {
    const value = this.values[name]
    return typeof value === 'object' && value !== null && Object.keys(value).length === 0
  }

  /** Returns whether a field exists. */
  has(name: string): boolean {
    return this.values[name] !== undefined && this.values[name] !== null
  }

  /** Returns a value of unknown type. */
  value(name: string): unknown {
    return this.values[name]
  }

  /** Returns a string; '' if it is missing. */
  text(name: string): string {
    const value = this.values[name] ?? ''
    if (typeof value === 'string') return value
    throw this.error(name, value, 'text')
  }

  /** Returns a string that matches a pattern; '' if it is missing. */
  match(name: string, pattern: RegExp, wanted: string): string {
    if (!this.has(name)) return ''
    const text = this.text(name)
    if (pattern.test(text)) return text
    throw this.error(name, text, wanted)
  }

  /** Returns a boolean, or `undefined` if it is missing. */
  flag(name: string): boolean | undefined {
    const value = this.values[name] ?? undefined
    if (value === undefined || typeof value === 'boolean') return value
    throw this.error(name, value, 'true or false')
  }

  /** Returns a port from 1 to 65535, or `undefined` if it is missing. */
  port(name: string): number | undefined {
    const value = this.values[name] ?? undefined
    if (value === undefined) return undefined
    if (typeof value === 'number' && Number.isInteger(value) && 0 < value && value < 65536) {
      return value
    }
    throw this.error(name, value, 'a port from 1 to 65535')
  }

  /** Returns a whole number from 0 to `max`; 0 if it is missing. */
  count(name: string, max: number): number {
    const value = this.values[name] ?? 0
    if (typeof value === 'number' && Number.isInteger(value) && 0 <= value && value <= max) {
      return value
    }
    throw this.error(name, value, `a number from 0 to ${max}`)
  }

  /** Returns all fields, which must be strings. */
  all(): Readonly<Record<string, string>> {
    return Object.fromEntries(Object.keys(this.values).map((name) => [name, this.text(name)]))
  }

  /** Returns a time (RFC 3339) in milliseconds since 1970; 0 if it is missing or invalid. */
  time(name: string): number {
    return Date.parse(this.text(name)) || 0
  }

  /** Returns the fields of an inner object; none if it is missing. */
  child(name: string): Fields {
    return new Fields(this.values[name], { parent: this, name })
  }

  /** Returns the fields of each object of a list. */
  children(name: string): Fields[] {
    return this.list(name).map((value, index) => new Fields(value, { parent: this, name, index }))
  }

  /** Returns a list of strings. */
  texts(name: string): string[] {
    return this.list(name).map((value, i) => {
      if (typeof value === 'string') return value
      throw this.error(`${name}[${i}]`, value, 'text')
    })
  }

  /** Fields of every object. */
  meta(): { namespace: string; name: string; labels: Labels } {
    const metadata = this.child('metadata')
    const name = metadata.text('name')
    if (name === '') throw metadata.error('name', undefined, 'a name')
    const namespace = metadata.text('namespace') || 'default'
    return { namespace, name, labels: metadata.labels() }
  }

  /** Returns when the object was created, in milliseconds since 1970 or 0, and its UID, if any. */
  created(): { createdMs: number; uid?: string } {
    const metadata = this.child('metadata')
    const uid = metadata.text('uid')
    return { createdMs: metadata.time('creationTimestamp'), ...(uid !== '' && { uid }) }
  }

  /** Returns the annotations whose name after the prefix is one of some. */
  annotations(names: ReadonlySet<string>): Labels {
    const all = Object.entries(this.child('metadata').child('annotations').values)
    const wanted = all.flatMap(([key, value]): [string, string][] => {
      const isWanted = names.has(key.slice(key.indexOf('/') + 1)) && key.includes('/')
      return isWanted && typeof value === 'string' ? [[key, value]] : []
    })
    return new Map(wanted)
  }

  private labels(): Labels {
    const labels = this.child('labels')
    const names = Object.keys(labels.values)
    return names.length === 0 ? NO_LABELS : new Map(names.map((name) => [name, labels.text(name)]))
  }

  /** @throws {FieldError} if a list has more items than that */
  checkLength(name: string, max: number): void {
    const { length } = this.list(name)
    if (length > max) throw this.error(name, length, `at most ${max} items`)
  }

  private list(name: string): readonly unknown[] {
    const value = this.values[name] ?? []
    if (Array.isArray(value)) return value
    throw this.error(name, value, 'a list')
  }

  /** Returns the path from the outermost object, with a final dot; '' for that itself. */
  private path(): string {
    if (this.place === undefined) return ''
    const { parent, name, index } = this.place
    return `${parent.path()}${name}${index === undefined ? '' : `[${index}]`}.`
  }

  private error(name: string, value: unknown, wanted: string): FieldError {
    const found = value === undefined ? 'missing' : excerpt(value)
    const path = `${this.path()}${name}`.replace(/\.$/, '')
    return new FieldError(`${path || 'it'} is ${found}, expected ${wanted}`)
  }
}

/** Describes a value without its contents, which may be huge or cyclic. */
function excerpt(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  return (typeof value === 'string' ? JSON.stringify(value) : String(value)).slice(0, 60)
}
