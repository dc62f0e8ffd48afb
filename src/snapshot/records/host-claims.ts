/**
 * How a tree of hostnames stores them, and which objects claim each.
 *
 * - A hostname is stored as a *key*: a byte for the rank of the claim, then its labels, cut into
 *   labels of 63 bytes. The last three labels of a name select its shard, so keys spread the hosts
 *   of one domain over all shards; and no hostname is a name above another.
 * - A name belongs to the namespace of the object that wins it. What the next namespace claims has
 *   the next rank, for clients that do not see the namespaces before.
 * - Each key has a set of a private type with the objects that claim it, as text, for `explain`;
 *   another one with marks, where a wildcard covers several labels or a CNAME holds for all types.
 * - A name above hostnames has a key of its own, which no hostname has, with the namespaces of the
 *   hostnames below it: it exists for clients that see one of them (RFC 8020).
 * @module
 */
import { byteAt, concatBytes } from '../../dns/bytes/bytes.ts'
import type { Rdata } from './zone-entry.ts'

/** The type of the set with the claiming objects, for private use (RFC 6895 §3.1). */
export const CLAIMS_TYPE = 0xff01
/** The type of the set with the marks of a hostname. */
export const MARKS_TYPE = 0xff02
/** The type of the set with the namespaces that have hostnames below a name. */
export const BELOW_TYPE = 0xff03
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

/** A last label that no hostname has: its character is in none. */
const BELOW_LABEL = Uint8Array.of(1, 0x21)

/**
 * Returns the key of a name that exists because of hostnames below it.
 * @param labels the name's, as for `hostKey`
 * @returns `undefined` for labels that `hostKey` does not take, or over 247 bytes
 */
export function belowKey(labels: Uint8Array): Uint8Array | undefined {
  return hostKey(concatBytes(labels, BELOW_LABEL), 0)
}

/** How many labels the `*` of a hostname stands for, from the fewest names to the most. */
export type Coverage =
  /** One label, as in an Ingress. */
  | 'label'
  /** Any number, unless a name in between exists (RFC 4592 §3.3.1). */
  | 'zone'
  /** Any number, as in the Gateway API. */
  | 'suffix'

/** What a hostname means beside its records. */
export type HostMarks = {
  /** Whether its CNAME holds for all types, and not only for addresses. */
  readonly isAlias: boolean
  /** How far it reaches, if it is a wildcard. */
  readonly coverage: Coverage
}

const COVERAGES: readonly Coverage[] = ['label', 'zone', 'suffix']
const ALIAS_BIT = 1

/** Returns the one of two coverages with more names. */
export function wider(a: Coverage, b: Coverage): Coverage {
  return COVERAGES.indexOf(a) < COVERAGES.indexOf(b) ? b : a
}

/** Writes marks as rdata. */
export function writeMarks({ isAlias, coverage }: HostMarks): Rdata {
  const bits = (COVERAGES.indexOf(coverage) << 1) | (isAlias ? ALIAS_BIT : 0)
  return { bytes: Uint8Array.of(bits) }
}

/** Reads marks; those of a hostname without any, as older snapshots have it, for empty rdata. */
export function readMarks(rdata: Uint8Array): HostMarks {
  const bits = byteAt(rdata, 0)
  const coverage = COVERAGES[bits >> 1] ?? 'label'
  return { isAlias: (bits & ALIAS_BIT) !== 0, coverage }
}

/** Writes the description of an object as rdata. */
export function writeClaim(object: string): Rdata {
  return { bytes: new TextEncoder().encode(object) }
}

/** Reads the description of an object. */
export function readClaim(rdata: Uint8Array): string {
  return new TextDecoder().decode(rdata)
}
