/**
 * Names as the text that expressions in Corefiles are matched with: as the DNS library of CoreDNS
 * writes it (github.com/miekg/dns, msg.go and types.go), which is not quite that of zone files.
 * @module
 */
import { byteAt } from '../bytes/bytes.ts'
import { LABEL_BYTES_MAX, NAME_BYTES_MAX } from './limits.ts'
import { ROOT } from './name.ts'

/** Characters that get a backslash within labels. */
const SPECIAL: ReadonlySet<number> = new Set(Array.from('. \'@;()"\\', (c) => c.charCodeAt(0)))
const BACKSLASH = 0x5c
const DOT = 0x2e

/** The text of each byte. */
const CHARACTERS: readonly string[] = Array.from({ length: 256 }, (_, value) =>
  characterText(value),
)

/** Formats an absolute name with its final dot; bytes outside 0x20 to 0x7e are `\DDD`. */
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
 * Parses a name, with or without its final dot, into an absolute one. Characters beyond ASCII stand
 * for their bytes in UTF-8. `undefined` when it is not a name.
 */
export function parseNameText(text: string): Uint8Array | undefined {
  if (text === '.') return ROOT
  const octets = new TextEncoder().encode(text)
  const wire = new Uint8Array(NAME_BYTES_MAX + 1)
  let start = 0
  let end = 1
  for (let i = 0; i < octets.length && end <= NAME_BYTES_MAX; ) {
    if (byteAt(octets, i) === DOT) {
      if (!closeLabel(wire, start, end)) return undefined
      start = end++
      i++
      continue
    }
    const width = escapeWidth(octets, i)
    wire[end++] = width === 4 ? decimal(octets, i + 1) : byteAt(octets, i + width - 1)
    i += width
  }
  const hasFinalDot = start > 0 && end === start + 1
  if (!hasFinalDot) {
    if (end > NAME_BYTES_MAX || !closeLabel(wire, start, end)) return undefined
    end++
  }
  return end <= NAME_BYTES_MAX ? wire.slice(0, end) : undefined
}

function characterText(value: number): string {
  if (value < 0x20 || value > 0x7e) return `\\${String(value).padStart(3, '0')}`
  const character = String.fromCharCode(value)
  return SPECIAL.has(value) ? `\\${character}` : character
}

/** Bytes of what stands at `i`: `\DDD`, `\X`, or one of its own. */
function escapeWidth(octets: Uint8Array, i: number): number {
  if (byteAt(octets, i) !== BACKSLASH || i + 1 === octets.length) return 1
  const isDigit = (at: number): boolean => {
    const value = octets[at] ?? 0
    return value >= 0x30 && value <= 0x39
  }
  return isDigit(i + 1) && isDigit(i + 2) && isDigit(i + 3) ? 4 : 2
}

function decimal(octets: Uint8Array, at: number): number {
  const digit = (i: number): number => byteAt(octets, at + i) - 0x30
  return 100 * digit(0) + 10 * digit(1) + digit(2)
}

function closeLabel(wire: Uint8Array, start: number, end: number): boolean {
  const length = end - start - 1
  wire[start] = length
  return length >= 1 && length <= LABEL_BYTES_MAX
}
