/**
 * Random values for property tests: names, records, messages.
 * @module
 */
import fc from 'fast-check'

/** Any label: 1 to 63 bytes of any value. */
export function wireLabel(): fc.Arbitrary<Uint8Array> {
  return fc.uint8Array({ minLength: 1, maxLength: 63 })
}

/** A message with one to six bits flipped. */
export function flipped(whole: Uint8Array): fc.Arbitrary<Uint8Array> {
  const flips = fc.array(fc.nat(8 * whole.length - 1), { minLength: 1, maxLength: 6 })
  return flips.map((bits) => {
    const bytes = whole.slice()
    for (const bit of bits) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    return bytes
  })
}

/** Any absolute name on the wire, up to 255 bytes or fewer. */
export function wireName({
  bytesMax = 255,
}: {
  readonly bytesMax?: number
} = {}): fc.Arbitrary<Uint8Array> {
  return fc.array(wireLabel(), { maxLength: 127 }).map((labels) => {
    const bytes: number[] = []
    for (const label of labels) {
      if (bytes.length + label.length + 2 > bytesMax) break
      bytes.push(label.length, ...label)
    }
    return Uint8Array.of(...bytes, 0)
  })
}
