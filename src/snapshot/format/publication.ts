/**
 * A publication: a manifest together with shards that it lists, as one body of bytes.
 *
 * ```
 * publication := part(manifest) part(shard)*
 * part        := size, 32 bits in network byte order; then as many bytes
 * ```
 * @module
 */
import { concatBytes, readUint32, uint32Bytes } from '../../dns/bytes/bytes.ts'

/** Most shards in a publication. */
export const PUBLICATION_SHARDS_MAX = 256
const SIZE_BYTES = 4

/** A manifest, and shards that come with it. */
export type Publication = {
  readonly manifest: Uint8Array
  readonly shards: readonly Uint8Array[]
}

/** Writes a publication. */
export function formatPublication({ manifest, shards }: Publication): Uint8Array<ArrayBuffer> {
  return concatBytes(...[manifest, ...shards].flatMap((part) => [uint32Bytes(part.length), part]))
}

/**
 * Splits a publication from untrusted bytes into parts that share its memory. Checks neither the
 * manifest nor the shards. Returns `undefined` if the parts are cut off or too many.
 */
export function parsePublication(bytes: Uint8Array): Publication | undefined {
  const parts: Uint8Array[] = []
  let offset = 0
  while (offset < bytes.length) {
    const start = offset + SIZE_BYTES
    if (start > bytes.length || parts.length > PUBLICATION_SHARDS_MAX) return undefined
    offset = start + readUint32(bytes, offset)
    if (offset > bytes.length) return undefined
    parts.push(bytes.subarray(start, offset))
  }
  const [manifest, ...shards] = parts
  return manifest && { manifest, shards }
}
