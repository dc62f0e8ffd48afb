/**
 * Strict base64url without padding (RFC 4648 §5, RFC 8484 §6).
 *
 * Node's `Buffer` ignores what is not in the alphabet and `atob` accepts padding and blanks. A
 * decoder of our own gives one verdict everywhere, and one spelling for each message, so that one
 * URL is one cache key.
 * @module
 */
import { octet, toLatin1 } from './bytes.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const INVALID = 255
const VALUES: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = ALPHABET.indexOf(String.fromCharCode(code))
  return value < 0 ? INVALID : value
})

/**
 * Decodes base64url text; `undefined` for padding, characters outside of the alphabet, an
 * impossible length, or bits set after the last octet. The empty text is no octets.
 */
export function decodeBase64url(text: string): Uint8Array | undefined {
  const tail = text.length % 4
  if (tail === 1) return undefined
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4))
  let offset = 0
  let bits = 0
  let bitCount = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const value = code < 128 ? octet(VALUES, code) : INVALID
    if (value === INVALID) return undefined
    bits = (bits << 6) | value
    bitCount += 6
    if (bitCount >= 8) {
      bitCount -= 8
      bytes[offset++] = bits >>> bitCount
      bits &= (1 << bitCount) - 1
    }
  }
  return bits === 0 ? bytes : undefined
}

/** Encodes octets as base64url text without padding. */
export function encodeBase64url(bytes: Uint8Array): string {
  const characters = new Uint8Array(Math.ceil((bytes.length * 4) / 3))
  let size = 0
  let bits = 0
  let bitCount = 0
  for (let i = 0; i < bytes.length; i++) {
    bits = (bits << 8) | octet(bytes, i)
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

/** Encodes octets as ordinary base64 with padding (RFC 4648 §4), as zone files have it. */
export function encodeBase64(bytes: Uint8Array): string {
  const text = encodeBase64url(bytes).replaceAll('-', '+').replaceAll('_', '/')
  return text + '='.repeat((4 - (text.length % 4)) % 4)
}

/** Decodes ordinary base64 with its padding; `undefined` when it is not that. */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined
  return decodeBase64url(text.replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_'))
}
