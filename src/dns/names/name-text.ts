/**
 * Names as text that regular expressions in Corefiles match: the format of CoreDNS's DNS library
 * (github.com/miekg/dns, msg.go and types.go), which differs slightly from zone files.
 * @module
 */
import { byteAt } from '../bytes/bytes.ts'
import { NAME_BYTES_MAX } from './limits.ts'
import { closeLabel, ROOT } from './name.ts'

/** Characters that are escaped in labels. */
const SPECIAL: ReadonlySet<number> = new Set(Array.from('. \'@;()"\\', (c) => c.charCodeAt(0)))
const BACKSLASH = 0x5c
const DOT = 0x2e

/** The text of each byte. */
const CHARACTERS: readonly string[] = Array.from({ length: 256 }, (_, value) =>
  characterText(value),
)

/** Formats an absolute name with the final dot; bytes outside 0x20 to 0x7e become `\DDD`. */
export function nameText(wire: Uint8Array): string {
  if (byteAt(wire, 0) === 0) return '.'
  let text = ''
  for (let at = 0; byteAt(wire, at) !== 0; at += byteAt(wire, at) + 1) {
    const end = at + byteAt(wire, at)
    for (let i = at + 1; i <= end; i++) text += CHARACTERS[byteAt(wire, i)]
    text += '.'
  }
  return text
}

/**
 * Parses a name, with or without the final dot, into an absolute one. Characters beyond ASCII
 * become their UTF-8 bytes. `undefined` for an invalid name.
 */
export function parseNameText(text: string): Uint8Array | undefined {
  if (text === '.') return ROOT
  const bytes = new TextEncoder().encode(text)
  const wire = new Uint8Array(NAME_BYTES_MAX + 1)
  let start = 0
  let end = 1
  for (let i = 0; i < bytes.length && end <= NAME_BYTES_MAX; ) {
    if (byteAt(bytes, i) === DOT) {
      if (!closeLabel(wire, start, end)) return undefined
      start = end++
      i++
      continue
    }
    const width = escapeWidth(bytes, i)
    wire[end++] = width === 4 ? decimal(bytes, i + 1) : byteAt(bytes, i + width - 1)
    i += width
  }
  const hasFinalDot = start > 0 && end === start + 1
  if (!hasFinalDot) {
    if (!closeLabel(wire, start, end)) return undefined
    end++
  }
  return end <= NAME_BYTES_MAX ? wire.slice(0, end) : undefined
}

function characterText(value: number): string {
  if (value < 0x20 || value > 0x7e) return `\\${String(value).padStart(3, '0')}`
  const character = String.fromCharCode(value)
  return SPECIAL.has(value) ? `\\${character}` : character
}

/** Returns the length of the character or escape at `i`: `\DDD`, `\X`, or one byte. */
function escapeWidth(bytes: Uint8Array, i: number): number {
  if (byteAt(bytes, i) !== BACKSLASH || i + 1 === bytes.length) return 1
  const isDigit = (at: number): boolean => {
    const value = bytes[at] ?? 0
    return value >= 0x30 && value <= 0x39
  }
  return isDigit(i + 1) && isDigit(i + 2) && isDigit(i + 3) ? 4 : 2
}

function decimal(bytes: Uint8Array, at: number): number {
  const digit = (i: number): number => byteAt(bytes, at + i) - 0x30
  return 100 * digit(0) + 10 * digit(1) + digit(2)
}
