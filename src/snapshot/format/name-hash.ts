/**
 * The hash of names in the index of a shard, four bytes at a time, in little-endian order.
 * @module
 */
import { tailMask } from '../../bytes/bytes.ts'

const BASIS = 0x811c9dc5
const FACTOR = 0x9e3779b1

/** Hashes the first `size` bytes of lower-case labels. The result is a signed 32-bit number. */
export function hashName(labels: Uint8Array, size: number, seed: number): number {
  return hashByteRange(labels, 0, size, seed)
}

/** Hashes the bytes from `start` to `end`. */
export function hashByteRange(
  octets: Uint8Array,
  start: number,
  end: number,
  seed: number,
): number {
  let hash = BASIS ^ seed
  let at = start
  for (; at + 4 <= end; at += 4) {
    const low = (octets[at] ?? 0) | ((octets[at + 1] ?? 0) << 8)
    hash = step(hash, low | ((octets[at + 2] ?? 0) << 16) | ((octets[at + 3] ?? 0) << 24))
  }
  if (at === end) return hash
  let last = 0
  for (let i = end - 1; i >= at; i--) last = (last << 8) | (octets[i] ?? 0)
  return step(hash, last)
}

/** As `hashName`, for labels that are at hand as words. */
export function hashWords(labels: Int32Array, size: number, seed: number): number {
  let hash = BASIS ^ seed
  const whole = size >>> 2
  for (let i = 0; i < whole; i++) hash = step(hash, labels[i] ?? 0)
  return (size & 3) === 0 ? hash : step(hash, (labels[whole] ?? 0) & tailMask(size))
}

/** As `hashByteRange`, of bytes that can be read four at a time, up to three behind `end`. */
export function hashView(view: DataView, start: number, end: number, seed: number): number {
  let hash = BASIS ^ seed
  let at = start
  for (; at + 4 <= end; at += 4) hash = step(hash, view.getInt32(at, true))
  if (at < end) hash = step(hash, view.getInt32(at, true) & tailMask(end - at))
  return hash
}

/** One step of the hash: takes in four bytes. */
export function hashStep(hash: number, value: number): number {
  return step(hash, value)
}

const step = (hash: number, value: number): number => {
  const product = Math.imul(hash ^ value, FACTOR)
  return product ^ (product >>> 15)
}
