/**
 * Character strings (RFC 1035 §3.3): a length byte and up to 255 bytes; and their text (§5.1).
 * @module
 */
import { byteAt, concatBytes } from '../bytes/bytes.ts'

const STRING_BYTES_MAX = 255

/** Formats bytes in double quotes, escaped. */
export function formatString(bytes: Uint8Array): string {
  let text = ''
  for (const value of bytes) {
    if (value < 0x20 || value > 0x7e) text += `\\${String(value).padStart(3, '0')}`
    else if (value === 0x22 || value === 0x5c) text += `\\${String.fromCharCode(value)}`
    else text += String.fromCharCode(value)
  }
  return `"${text}"`
}

/** Unescapes `\DDD` and `\X`; `undefined` for an invalid escape or a character over U+00FF. */
export function parseString(text: string): Uint8Array | undefined {
  const values: number[] = []
  for (let i = 0; i < text.length; i++) {
    let value = text.charCodeAt(i)
    if (value === 0x5c) {
      const [escaped, digits] = /^(?:(\d{3})|\D)/.exec(text.slice(i + 1, i + 4)) ?? []
      if (escaped === undefined) return undefined
      value = digits === undefined ? text.charCodeAt(i + 1) : Number(digits)
      i += escaped.length
    }
    if (value > 255) return undefined
    values.push(value)
  }
  return Uint8Array.from(values)
}

/** Splits bytes into as few strings as possible, at least one. */
export function characterStrings(bytes: Uint8Array): Uint8Array {
  const strings: Uint8Array[] = []
  for (let at = 0; at === 0 || at < bytes.length; at += STRING_BYTES_MAX) {
    const part = bytes.subarray(at, at + STRING_BYTES_MAX)
    strings.push(Uint8Array.of(part.length), part)
  }
  return concatBytes(...strings)
}

/** Returns the contents of valid strings. */
export function stringContents(strings: Uint8Array): Uint8Array[] {
  const contents: Uint8Array[] = []
  for (let at = 0; at < strings.length; at += byteAt(strings, at) + 1) {
    contents.push(strings.subarray(at + 1, at + 1 + byteAt(strings, at)))
  }
  return contents
}
