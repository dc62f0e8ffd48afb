/**
 * IP addresses as one label with dashes for dots and colons, as in the names of Pods.
 * @module
 */
import { byteAt } from '../bytes/bytes.ts'

const DASH = 0x2d

/**
 * Parses the label whose length byte is at `at` into the first bytes of `into`, which has room for
 * 16. Three separate dashes make it IPv4, else it is IPv6; an IPv4-mapped IPv6 address becomes IPv4
 * (as in Go's `net.ParseIP`). Returns 4, 16, or 0 for other text. Allocates nothing.
 */
export function parseAddressLabel(name: Uint8Array, at: number, into: Uint8Array): number {
  const length = byteAt(name, at)
  let dashes = 0
  let hasPair = false
  for (let i = 1; i <= length; i++) {
    if (byteAt(name, at + i) !== DASH) continue
    dashes++
    if (i < length && byteAt(name, at + i + 1) === DASH) hasPair = true
  }
  if (dashes === 3 && !hasPair) return readIPv4(name, at, into)
  if (!readIPv6(name, at, into)) return 0
  for (let i = 0; i < 10; i++) if (into[i] !== 0) return 16
  if (into[10] !== 0xff || into[11] !== 0xff) return 16
  into.copyWithin(0, 12, 16)
  return 4
}

function readIPv4(name: Uint8Array, at: number, into: Uint8Array): number {
  const end = at + byteAt(name, at) + 1
  let index = 0
  let value = 0
  let digits = 0
  for (let i = at + 1; i <= end; i++) {
    const char = i < end ? byteAt(name, i) : DASH
    if (char === DASH) {
      if (digits === 0 || value > 255) return 0
      into[index++] = value
      value = 0
      digits = 0
      continue
    }
    const hasLeadingZero = digits > 0 && value === 0
    if (char < 0x30 || char > 0x39 || hasLeadingZero || digits === 3) return 0
    value = 10 * value + char - 0x30
    digits++
  }
  return index === 4 ? 4 : 0
}

/** Parses groups of up to four hexadecimal digits; one double dash stands for groups of zero. */
function readIPv6(name: Uint8Array, at: number, into: Uint8Array): boolean {
  const end = at + byteAt(name, at) + 1
  let groups = 0
  let gap = -1
  let i = at + 1
  if (end - i >= 2 && byteAt(name, i) === DASH && byteAt(name, i + 1) === DASH) {
    gap = 0
    i += 2
  }
  while (i < end) {
    let value = 0
    let digits = 0
    while (i < end && byteAt(name, i) !== DASH) {
      const digit = hexDigit(byteAt(name, i))
      if (digit < 0 || digits === 4) return false
      value = (value << 4) | digit
      digits++
      i++
    }
    if (digits === 0 || groups === 8) return false
    into[2 * groups] = value >>> 8
    into[2 * groups + 1] = value
    groups++
    if (i === end) break
    if (++i === end) return false
    if (byteAt(name, i) !== DASH) continue
    if (gap >= 0) return false
    gap = groups
    i++
  }
  return gap < 0 ? groups === 8 : groups < 8 && openGap(into, gap, groups)
}

function openGap(into: Uint8Array, gap: number, groups: number): boolean {
  const moved = 2 * (groups - gap)
  into.copyWithin(16 - moved, 2 * gap, 2 * groups)
  into.fill(0, 2 * gap, 16 - moved)
  return true
}

function hexDigit(char: number): number {
  if (char >= 0x30 && char <= 0x39) return char - 0x30
  return char >= 0x61 && char <= 0x66 ? char - 0x57 : -1
}
