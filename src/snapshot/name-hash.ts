/**
 * The hash of names in the index of a shard: FNV-1a over the labels with their length octets.
 * @module
 */
import { octet } from '../dns/bytes.ts'

/** Hashes the first `size` octets of lower-case labels. The result is an unsigned 32-bit number. */
export function hashName(labels: Uint8Array, size: number, seed: number): number {
  let hash = 0x811c9dc5 ^ seed
  for (let i = 0; i < size; i++) hash = Math.imul(hash ^ octet(labels, i), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}
