/**
 * Random values for property tests: names, records, messages.
 * @module
 */
import fc from 'fast-check'

/** Any label: 1 to 63 bytes of any value. */
export function wireLabel(): fc.Arbitrary<Uint8Array> {
  return fc.uint8Array({ minLength: 1, maxLength: 63 })
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
