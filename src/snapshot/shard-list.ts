/**
 * A manifest's list of shards as it travels: 36 octets each, the hash and the size. A reader wants
 * one of a thousand to begin with, so that none is made into an object or text before it is asked.
 * @module
 */
import { decodeBase64url, encodeBase64url } from '../dns/base64url.ts'
import { EMPTY, equalBytes, formatHex, parseHex } from '../dns/bytes.ts'

const SHA256_BYTES = 32
/** Octets of a shard in the list. */
export const SHARD_ENTRY_BYTES = 36
const ENTRY_WORDS = SHARD_ENTRY_BYTES / 4

/** A shard of a snapshot. */
export type ShardEntry = {
  /** SHA-256 of its octets, 64 lower-case hexadecimal digits. */
  readonly sha256: string
  readonly bytes: number
}

/** Shards in their order; the place in the list is the shard's index. */
export class ShardList {
  readonly length: number
  private readonly packed: Uint8Array
  /** The same as words. */
  private readonly words: Int32Array

  /** @param packed its octets, from the beginning of their buffer on */
  constructor(packed: Uint8Array) {
    this.length = Math.floor(packed.length / SHARD_ENTRY_BYTES)
    this.packed = packed
    this.words = new Int32Array(packed.buffer, packed.byteOffset, ENTRY_WORDS * this.length)
  }

  /** SHA-256 of a shard, 64 lower-case hexadecimal digits; '' when there is no such shard. */
  sha256(index: number): string {
    return formatHex(this.hash(index))
  }

  /** Whether a shard has the same hash as the one in its place in another list. */
  isSame(index: number, other: ShardList): boolean {
    return index < this.length && equalBytes(this.hash(index), other.hash(index))
  }

  /** Whether another list has the same hashes in the same order. */
  equals(other: ShardList): boolean {
    return this.length === other.length && this.entries().every((_, i) => this.isSame(i, other))
  }

  /** Index of the first shard without octets; -1 when there is none. */
  firstEmpty(): number {
    for (let index = 0; index < this.length; index++) if (this.size(index) === 0) return index
    return -1
  }

  /** All shards as objects. */
  entries(): ShardEntry[] {
    return Array.from({ length: this.length }, (_, index) => ({
      sha256: this.sha256(index),
      bytes: this.size(index),
    }))
  }

  private hash(index: number): Uint8Array {
    const start = SHARD_ENTRY_BYTES * index
    return this.packed.subarray(start, start + SHA256_BYTES)
  }

  private size(index: number): number {
    return (this.words[ENTRY_WORDS * index + ENTRY_WORDS - 1] ?? 0) >>> 0
  }
}

/** Writes a list as a manifest has it, in base64url. */
export function formatShardList(shards: readonly ShardEntry[]): string {
  const packed = new Uint8Array(SHARD_ENTRY_BYTES * shards.length)
  const view = new DataView(packed.buffer)
  shards.forEach(({ sha256, bytes }, i) => {
    packed.set(parseHex(sha256) ?? EMPTY, SHARD_ENTRY_BYTES * i)
    view.setUint32(SHARD_ENTRY_BYTES * i + SHA256_BYTES, bytes, true)
  })
  return encodeBase64url(packed)
}

/** Reads a list; `undefined` when it is not entries in base64url. */
export function parseShardList(text: string): ShardList | undefined {
  const packed = decodeBase64url(text)
  if (packed === undefined || packed.length % SHARD_ENTRY_BYTES !== 0) return undefined
  return new ShardList(packed)
}
