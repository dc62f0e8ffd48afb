/**
 * Fields of objects of unknown shape, as they are read one by one.
 * @module
 */
import { isRecord } from '../../bytes/unknown.ts'
import type { Labels } from './objects.ts'

/** A field that is not as the API has it. */
export class FieldError extends Error {
  override readonly name = 'FieldError'
}

/** Fields of an object that may be missing or `null`; a field of another type is an error. */
export class Fields {
  private readonly values: Readonly<Record<string, unknown>>
  private readonly path: string

  /** @param path of the object within its own, with a final dot; '' for the whole */
  constructor(value: unknown, path: string) {
    this.path = path
    if (value === undefined || value === null) this.values = {}
    else if (isRecord(value)) this.values = value
    else throw this.error('', value, 'an object')
  }

  /** Whether a field is an object or a list with nothing in it. */
  isEmpty(name: string): boolean {
    const value = this.values[name]
    return typeof value === 'object' && value !== null && Object.keys(value).length === 0
  }

  /** Whether a field is there. */
  has(name: string): boolean {
    return this.values[name] !== undefined && this.values[name] !== null
  }

  /** A text; '' when it is missing. */
  text(name: string): string {
    const value = this.values[name] ?? ''
    if (typeof value === 'string') return value
    throw this.error(name, value, 'text')
  }

  /** True, false, or missing. */
  flag(name: string): boolean | undefined {
    const value = this.values[name] ?? undefined
    if (value === undefined || typeof value === 'boolean') return value
    throw this.error(name, value, 'true or false')
  }

  /** A port from 1 to 65535, or missing. */
  port(name: string): number | undefined {
    const value = this.values[name] ?? undefined
    if (value === undefined) return undefined
    if (typeof value === 'number' && Number.isInteger(value) && 0 < value && value < 65536) {
      return value
    }
    throw this.error(name, value, 'a port from 1 to 65535')
  }

  /** A moment (RFC 3339) in milliseconds since 1970; 0 when it is missing, or no moment. */
  time(name: string): number {
    return Date.parse(this.text(name)) || 0
  }

  /** The fields of an object within; none when it is missing. */
  child(name: string): Fields {
    return new Fields(this.values[name], `${this.path}${name}.`)
  }

  /** The fields of each object of a list. */
  children(name: string): Fields[] {
    return this.list(name).map((value, i) => new Fields(value, `${this.path}${name}[${i}].`))
  }

  /** A list of texts. */
  texts(name: string): string[] {
    return this.list(name).map((value, i) => {
      if (typeof value === 'string') return value
      throw this.error(`${name}[${i}]`, value, 'text')
    })
  }

  /** What all objects have. */
  meta(): { namespace: string; name: string; labels: Labels } {
    const metadata = this.child('metadata')
    const name = metadata.text('name')
    if (name === '') throw metadata.error('name', undefined, 'a name')
    const namespace = metadata.text('namespace') || 'default'
    return { namespace, name, labels: metadata.labels() }
  }

  private labels(): Labels {
    const labels = this.child('labels')
    return new Map(Object.keys(labels.values).map((key) => [key, labels.text(key)]))
  }

  private list(name: string): readonly unknown[] {
    const value = this.values[name] ?? []
    if (Array.isArray(value)) return value
    throw this.error(name, value, 'a list')
  }

  private error(name: string, value: unknown, wanted: string): FieldError {
    const found = value === undefined ? 'missing' : excerpt(value)
    const path = `${this.path}${name}`.replace(/\.$/, '')
    return new FieldError(`${path || 'it'} is ${found}, expected ${wanted}`)
  }
}

/** Says what a value is, without going into it: it may be huge, or part of itself. */
function excerpt(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  return (typeof value === 'string' ? JSON.stringify(value) : String(value)).slice(0, 60)
}
