/**
 * Strict base64url without padding (RFC 4648 §5, RFC 8484 §6).
 *
 * Node's `Buffer` ignores characters outside the alphabet, and `atob` accepts padding and white
 * space. This decoder accepts one spelling of each message on every runtime, so that a message has
 * one URL and one cache key.
 * @module
 */
import { byteAt, toLatin1 } from './bytes.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
/** Values of the characters; -1 for characters outside the alphabet. */
const VALUES: Int8Array = Int8Array.from({ length: 128 }, (_, code) =>
  ALPHABET.indexOf(String.fromCharCode(code)),
)

/**
 * Minimum length for the runtime's own decoder, where there is one (Node 25, Workers, Bun, Deno). A
 * manifest has 50,000 characters, and a new isolate has not compiled our loop yet.
 */
const LONG_TEXT = 1024

/**
 * Decodes base64url text; `undefined` for padding, characters outside the alphabet, an impossible
 * length, or bits set after the last byte. Empty text gives no bytes.
 * @param start offset of the base64url text in `text`
 * @param allocate returns memory for the bytes
 */
export function decodeBase64url(
  text: string,
  start = 0,
  allocate: (size: number) => Uint8Array = newBytes,
): Uint8Array | undefined {
  const size = text.length - start
  const tail = size % 4
  if (tail === 1) return undefined
  if (tail === 0 && size >= LONG_TEXT && Uint8Array.fromBase64 !== undefined) {
    return decodeWhole(text.slice(start))
  }
  const bytes = allocate(Math.floor((size * 3) / 4))
  const whole = text.length - tail
  let offset = 0
  let all = 0
  for (let i = start; i < whole; i += 4) {
    const high = (valueAt(text, i) << 18) | (valueAt(text, i + 1) << 12)
    const four = high | (valueAt(text, i + 2) << 6) | valueAt(text, i + 3)
    all |= four
    bytes[offset++] = four >>> 16
    bytes[offset++] = four >>> 8
    bytes[offset++] = four
  }
  if (all < 0) return undefined
  if (tail === 0) return bytes
  const first = (valueAt(text, whole) << 10) | (valueAt(text, whole + 1) << 4)
  const last = tail === 3 ? first | (valueAt(text, whole + 2) >> 2) : first
  const unused = tail === 3 ? valueAt(text, whole + 2) & 3 : valueAt(text, whole + 1) & 15
  if (last < 0 || unused !== 0) return undefined
  bytes[offset++] = last >>> 8
  if (tail === 3) bytes[offset] = last
  return bytes
}

function newBytes(size: number): Uint8Array {
  return new Uint8Array(size)
}

/** Decodes complete groups. The runtime accepts white space and padding: the size reveals them. */
function decodeWhole(text: string): Uint8Array | undefined {
  try {
    const bytes = Uint8Array.fromBase64(text, { alphabet: 'base64url' })
    return 4 * bytes.length === 3 * text.length ? bytes : undefined
  } catch {
    return undefined
  }
}

/** Returns the value of a character; negative for others, also when combined with OR and shifts. */
function valueAt(text: string, index: number): number {
  const code = text.charCodeAt(index)
  return code < 128 ? (VALUES[code] ?? -1) : -1
}

/** Encodes bytes as base64url text without padding. */
export function encodeBase64url(bytes: Uint8Array): string {
  const characters = new Uint8Array(Math.ceil((bytes.length * 4) / 3))
  let size = 0
  let bits = 0
  let bitCount = 0
  for (let i = 0; i < bytes.length; i++) {
    bits = (bits << 8) | byteAt(bytes, i)
    bitCount += 8
    while (bitCount >= 6) {
      bitCount -= 6
      characters[size++] = ALPHABET.charCodeAt((bits >>> bitCount) & 63)
    }
    bits &= (1 << bitCount) - 1
  }
  if (bitCount > 0) characters[size] = ALPHABET.charCodeAt((bits << (6 - bitCount)) & 63)
  return toLatin1(characters)
}

/** Encodes bytes as base64 with padding (RFC 4648 §4), as in zone files. */
export function encodeBase64(bytes: Uint8Array): string {
  const text = encodeBase64url(bytes).replaceAll('-', '+').replaceAll('_', '/')
  return text + '='.repeat((4 - (text.length % 4)) % 4)
}

/** Decodes base64 with padding; `undefined` for other text. */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined
  return decodeBase64url(text.replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_'))
}
