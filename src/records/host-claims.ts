/**
 * How a tree of hostnames stores them, and which objects claim each.
 *
 * - A hostname is stored as a *key*: a byte for the rank of the claim, then its labels, cut into
 *   labels of 63 bytes. The last three labels of a name select its shard, so keys spread the hosts
 *   of one domain over all shards; and no hostname is a name above another.
 * - A name belongs to the namespace of the object that wins it. What the next namespace claims has
 *   the next rank, for clients that do not see the namespaces before.
 * - Each key has a set of a private type with the objects that claim it, as text, for `explain`.
 * @module
 */
import { byteAt } from '../bytes/bytes.ts'
import type { Rdata } from './zone-entry.ts'

/** The type of the set with the claiming objects, for private use (RFC 6895 §3.1). */
export const CLAIMS_TYPE = 0xff01
/** Most namespaces whose claims to one hostname are stored. */
export const CLAIMS_MAX = 8
/** Most bytes of a hostname's labels, without the root, that a key can hold. */
export const HOST_BYTES_MAX = 249
const LABEL_BYTES_MAX = 63
/** Distinguishes the first byte of a key from those of hostnames, which are ASCII. */
const RANK_MARK = 0x80

/**
 * Returns the key of a claim.
 * @param labels the hostname's, in lower case, without the root
 * @param rank 0 for the claim that wins, to `CLAIMS_MAX - 1`
 * @returns `undefined` for labels over `HOST_BYTES_MAX`, or that are not ASCII
 */
export function hostKey(labels: Uint8Array, rank: number): Uint8Array | undefined {
  if (labels.length > HOST_BYTES_MAX || labels.some((byte) => byte >= RANK_MARK)) return undefined
  const size = labels.length + 1
  const key = new Uint8Array(size + Math.ceil(size / LABEL_BYTES_MAX))
  for (let at = 0; at < key.length; at += 1 + LABEL_BYTES_MAX) {
    key[at] = Math.min(LABEL_BYTES_MAX, key.length - at - 1)
  }
  key[1] = RANK_MARK | rank
  for (let i = 1; i < size; i++) {
    key[i + 1 + Math.floor(i / LABEL_BYTES_MAX)] = byteAt(labels, i - 1)
  }
  return key
}

/** Returns the labels of a key's hostname, and the rank of the claim. */
export function readHostKey(key: Uint8Array): {
  readonly labels: Uint8Array
  readonly rank: number
} {
  const content = key.filter((_, i) => i % (1 + LABEL_BYTES_MAX) !== 0)
  return { labels: content.subarray(1), rank: byteAt(content, 0) & ~RANK_MARK }
}

/** Writes the description of an object as rdata. */
export function writeClaim(object: string): Rdata {
  return { bytes: new TextEncoder().encode(object) }
}

/** Reads the description of an object. */
export function readClaim(rdata: Uint8Array): string {
  return new TextDecoder().decode(rdata)
}
