/**
 * The hash of names in the index of a shard: FNV-1a over the labels with their length octets.
 * @module
 */
import { octet } from '../dns/bytes.ts'

/** Hashes the first `size` octets of lower-case labels. The result is an unsigned 32-bit number. */
export function hashName(labels: Uint8Array, size: number, seed: number): number {
  return hashOctets(labels, 0, size, seed)
}

/** Hashes the octets from `start` to `end`. */
export function hashOctets(octets: Uint8Array, start: number, end: number, seed: number): number {
  let hash = 0x811c9dc5 ^ seed
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ octet(octets, i), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}
