/**
 * A manifest's list of shards: 36 bytes each, the hash and the size. It stays packed, because a
 * reader first needs one of perhaps a thousand.
 * @module
 */
import { decodeBase64url, encodeBase64url } from '../../dns/bytes/base64url.ts'
import { EMPTY, equalBytes, formatHex, parseHex } from '../../dns/bytes/bytes.ts'

const SHA256_BYTES = 32
/** Bytes of a list entry. */
export const SHARD_ENTRY_BYTES = 36

/** An entry of the list. */
export type ShardEntry = {
  /** SHA-256 of its bytes, 64 lower-case hexadecimal digits. */
  readonly sha256: string
  readonly bytes: number
}

/** A packed list of shards, by index. */
export class ShardList {
  readonly length: number
  private readonly packed: Uint8Array

  /** @param packed its bytes, complete entries */
  constructor(packed: Uint8Array) {
    this.length = packed.length / SHARD_ENTRY_BYTES
    this.packed = packed
  }

  /**
   * Returns the SHA-256 of a shard, 64 lower-case hexadecimal digits; '' if the index is too large.
   */
  sha256(index: number): string {
    return formatHex(this.hash(index))
  }

  /** Returns whether a shard has the same hash in another list of the same length. */
  isSame(index: number, other: ShardList): boolean {
    return this.length === other.length && equalBytes(this.hash(index), other.hash(index))
  }

  /** Returns whether another list is the same. */
  equals(other: ShardList): boolean {
    return equalBytes(this.packed, other.packed)
  }

  /** Returns all shards as objects. */
  entries(): ShardEntry[] {
    const view = new DataView(this.packed.buffer, this.packed.byteOffset)
    return Array.from({ length: this.length }, (_, index) => ({
      sha256: this.sha256(index),
      bytes: view.getUint32(SHARD_ENTRY_BYTES * index + SHA256_BYTES, true),
    }))
  }

  private hash(index: number): Uint8Array {
    const start = SHARD_ENTRY_BYTES * index
    return this.packed.subarray(start, start + SHA256_BYTES)
  }
}

/** Writes a list in base64url, for a manifest. */
export function formatShardList(shards: readonly ShardEntry[]): string {
  const packed = new Uint8Array(SHARD_ENTRY_BYTES * shards.length)
  const view = new DataView(packed.buffer)
  shards.forEach(({ sha256, bytes }, i) => {
    packed.set(parseHex(sha256) ?? EMPTY, SHARD_ENTRY_BYTES * i)
    view.setUint32(SHARD_ENTRY_BYTES * i + SHA256_BYTES, bytes, true)
  })
  return encodeBase64url(packed)
}

/** Parses a list; `undefined` if it is not complete entries in base64url. */
export function parseShardList(text: string): ShardList | undefined {
  const packed = decodeBase64url(text)
  if (packed === undefined || packed.length % SHARD_ENTRY_BYTES !== 0) return undefined
  return new ShardList(packed)
}
