/**
 * The hash of names in the index of a shard, four octets at a time, in little-endian order.
 * @module
 */
import { octet, tailMask, word } from '../dns/bytes.ts'

const BASIS = 0x811c9dc5
const FACTOR = 0x9e3779b1

/** Hashes the first `size` octets of lower-case labels. The result is a signed 32-bit number. */
export function hashName(labels: Uint8Array, size: number, seed: number): number {
  return hashOctets(labels, 0, size, seed)
}

/** Hashes the octets from `start` to `end`. */
export function hashOctets(octets: Uint8Array, start: number, end: number, seed: number): number {
  let hash = BASIS ^ seed
  let at = start
  for (; at + 4 <= end; at += 4) {
    const low = octet(octets, at) | (octet(octets, at + 1) << 8)
    hash = hashStep(hash, low | (octet(octets, at + 2) << 16) | (octet(octets, at + 3) << 24))
  }
  if (at === end) return hash
  let last = 0
  for (let i = end - 1; i >= at; i--) last = (last << 8) | octet(octets, i)
  return hashStep(hash, last)
}

/** As `hashName`, for labels that are at hand as words. */
export function hashWords(labels: Int32Array, size: number, seed: number): number {
  let hash = BASIS ^ seed
  const whole = size >>> 2
  for (let i = 0; i < whole; i++) hash = hashStep(hash, word(labels, i))
  return (size & 3) === 0 ? hash : hashStep(hash, word(labels, whole) & tailMask(size))
}

/** As `hashOctets`, of octets that can be read four at a time, up to three behind `end`. */
export function hashView(view: DataView, start: number, end: number, seed: number): number {
  let hash = BASIS ^ seed
  let at = start
  for (; at + 4 <= end; at += 4) hash = hashStep(hash, view.getInt32(at, true))
  if (at < end) hash = hashStep(hash, view.getInt32(at, true) & tailMask(end - at))
  return hash
}

/** One step of the hash: takes in four octets. */
export function hashStep(hash: number, value: number): number {
  const product = Math.imul(hash ^ value, FACTOR)
  return product ^ (product >>> 15)
}
