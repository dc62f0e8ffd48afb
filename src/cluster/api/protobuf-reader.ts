/**
 * Reads messages of Protocol Buffers as the objects that JSON would have, by descriptions of the
 * fields that are needed. The one file that uses pbf.
 * @module
 */
import { PbfReader } from 'pbf'

/** An object as JSON has it. */
export type Values = Record<string, unknown>
/** Reads a field into an object. */
export type FieldReader = (values: Values, reader: MessageReader) => void
/** Reads the fields of a message from where a reader is to `end`. */
export type Message = (reader: MessageReader, end: number) => Values

/** Reads fields. All methods throw errors for malformed bytes. */
export class MessageReader extends PbfReader {
  private readonly bytes: Buffer

  constructor(bytes: Buffer) {
    super(bytes)
    this.bytes = bytes
  }

  /** Reads the length of a field. Returns where the field ends. */
  readEnd(): number {
    const end = this.readVarint() + this.pos
    if (end > this.length) throw new RangeError('a field is longer than its message')
    return end
  }

  /** Checks that the last field of a message ended with it. */
  endMessage(end: number): void {
    if (this.pos !== end) throw new RangeError('a field is longer than its message')
  }

  /** Reads a text. pbf's own way takes several times as long for those over eleven bytes. */
  override readString(): string {
    const end = this.readEnd()
    const text = this.bytes.toString('utf8', this.pos, end)
    this.pos = end
    return text
  }
}

/** Describes a message by the readers of its fields, by number. It skips other fields. */
export function message(fields: Readonly<Record<number, FieldReader>>): Message {
  const readers: (FieldReader | undefined)[] = []
  for (const [number, reader] of Object.entries(fields)) readers[Number(number)] = reader
  return (reader, end) => {
    const values: Values = {}
    for (let field = reader.nextField(end); field > 0; field = reader.nextField(end)) {
      readers[field]?.(values, reader)
    }
    reader.endMessage(end)
    return values
  }
}

/** A text; leaves out '', which the API server writes where JSON has nothing. */
export function text(name: string): FieldReader {
  return (values, reader) => {
    const value = reader.readString()
    if (value !== '') values[name] = value
  }
}

/** A whole number; leaves out 0. */
export function number(name: string): FieldReader {
  return (values, reader) => {
    const value = reader.readVarint(true)
    if (value !== 0) values[name] = value
  }
}

/** A boolean; absent only if the object lacks it. */
export function readFlag(name: string): FieldReader {
  return (values, reader) => {
    values[name] = reader.readBoolean()
  }
}

/** Bytes, as where they begin and end. */
export function bytes(name: string): FieldReader {
  return (values, reader) => {
    const end = reader.readEnd()
    values[name] = { start: reader.pos, end }
    reader.pos = end
  }
}

/** An inner message. */
export function child(name: string, read: Message): FieldReader {
  return (values, reader) => {
    values[name] = read(reader, reader.readEnd())
  }
}

/** A list of messages. */
export function children(name: string, read: Message): FieldReader {
  return (values, reader) => append(values, name, read(reader, reader.readEnd()))
}

/** A list of texts. */
export function texts(name: string): FieldReader {
  return (values, reader) => append(values, name, reader.readString())
}

function append(values: Values, name: string, value: unknown): void {
  const list = values[name]
  if (Array.isArray(list)) list.push(value)
  else values[name] = [value]
}

const readEntry = message({ 1: text('key'), 2: text('value') })

/** A map of texts, such as labels. */
export function textMap(name: string): FieldReader {
  return (values, reader) => {
    const { key = '', value = '' } = readEntry(reader, reader.readEnd())
    const known = values[name]
    const map: Values = isValues(known) ? known : {}
    map[String(key)] = value
    values[name] = map
  }
}

function isValues(value: unknown): value is Values {
  return typeof value === 'object' && value !== null
}
