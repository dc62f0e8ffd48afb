/**
 * The hash of names in the index of a shard: four bytes at a time, little-endian.
 * @module
 */
import { tailMask } from '../../dns/bytes/bytes.ts'

const BASIS = 0x811c9dc5
const FACTOR = 0x9e3779b1

/** Hashes the first `size` bytes of lower-case labels. The result is a signed 32-bit number. */
export function hashName(labels: Uint8Array, size: number, seed: number): number {
  return hashByteRange(labels, 0, size, seed)
}

/** Hashes the bytes from `start` to `end`. */
export function hashByteRange(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let hash = BASIS ^ seed
  let at = start
  for (; at + 4 <= end; at += 4) {
    const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8)
    hash = step(hash, low | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24))
  }
  if (at === end) return hash
  let last = 0
  for (let i = end - 1; i >= at; i--) last = (last << 8) | (bytes[i] ?? 0)
  return step(hash, last)
}

/** Returns what `hashName` does, for labels in 32-bit words. */
export function hashWords(labels: Int32Array, size: number, seed: number): number {
  let hash = BASIS ^ seed
  const whole = size >>> 2
  for (let i = 0; i < whole; i++) hash = step(hash, labels[i] ?? 0)
  return (size & 3) === 0 ? hash : step(hash, (labels[whole] ?? 0) & tailMask(size))
}

/**
 * Returns what `hashByteRange` does, from a view that is readable up to three bytes after `end`.
 */
export function hashView(view: DataView, start: number, end: number, seed: number): number {
  let hash = BASIS ^ seed
  let at = start
  for (; at + 4 <= end; at += 4) hash = step(hash, view.getInt32(at, true))
  if (at < end) hash = step(hash, view.getInt32(at, true) & tailMask(end - at))
  return hash
}

/** Mixes four bytes into the hash. */
export function hashStep(hash: number, value: number): number {
  return step(hash, value)
}

const step = (hash: number, value: number): number => {
  const product = Math.imul(hash ^ value, FACTOR)
  return product ^ (product >>> 15)
}
