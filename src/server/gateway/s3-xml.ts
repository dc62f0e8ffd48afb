/**
 * The XML of S3, as far as the client reads it: elements without attributes, whose texts have no
 * elements. All keys that we write have letters that need no escape.
 * @module
 */
import type { ListedObject } from './bucket.ts'

const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  amp: '&',
}

/** A list of objects, and where it goes on; `undefined` at its end. */
export type Listing = {
  readonly objects: readonly ListedObject[]
  readonly next: string | undefined
}

/** Parses a response of ListObjectsV2. Leaves out an object without a key. */
export function parseListing(bytes: Uint8Array): Listing {
  const text = new TextDecoder().decode(bytes)
  const objects = text.split('<Contents>').slice(1).flatMap(objectIn)
  const isTruncated = fieldIn(text, 'IsTruncated') === 'true'
  return { objects, next: isTruncated ? fieldIn(text, 'NextContinuationToken') : undefined }
}

/** Returns the text of the first element with a name; `undefined` if there is none. */
export function fieldIn(text: string, name: string): string | undefined {
  const begin = text.indexOf(`<${name}>`)
  if (begin < 0) return undefined
  const start = begin + name.length + 2
  const end = text.indexOf('<', start)
  return unescaped(text.slice(start, end < 0 ? text.length : end))
}

function objectIn(text: string): ListedObject[] {
  const key = fieldIn(text, 'Key')
  const size = Number(fieldIn(text, 'Size') ?? Number.NaN)
  const modifiedMs = Date.parse(fieldIn(text, 'LastModified') ?? '')
  return key === undefined || Number.isNaN(size) || Number.isNaN(modifiedMs)
    ? []
    : [{ key, size, modifiedMs }]
}

function unescaped(text: string): string {
  return text.replace(
    /&(?:#x([\da-f]{1,6})|#(\d{1,7})|([a-z]{2,4}));/gi,
    (all, hex, digits, name) => {
      if (name !== undefined) return ENTITIES[name] ?? all
      const code = hex === undefined ? Number(digits) : Number.parseInt(hex, 16)
      return code <= 0x10_ff_ff ? String.fromCodePoint(code) : all
    },
  )
}
