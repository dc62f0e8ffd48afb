/**
 * How a tree stores the keys of an etcd: in sets of a private type, at names that are hashes of the
 * keys. No query finds these names; gateways read all sets.
 * @module
 */
import { listOf, parseJson } from '../../dns/bytes/unknown.ts'
import type { Rdata } from './zone-entry.ts'

/** A key as it is stored in etcd. */
export type StoredKey = {
  /** The key's bytes, one character each. */
  readonly key: string
  readonly value: string
  /** Identifier of a lease, '' for none. */
  readonly lease: string
}

/** The type of a set of keys, for private use (RFC 6895 §3.1). */
export const KEYS_TYPE = 0xff02
/** Most characters of a key; longer ones are not stored. */
export const KEY_SIZE_MAX = 4096
/** Most characters of a value; a longer one has no room in `RDATA_BYTES_MAX`. */
export const VALUE_SIZE_MAX = 0xffff
/** Stands for every lease: its identifier may change with each renewal. */
const LEASE = 'lease'
const RDATA_BYTES_MAX = 0xffff

/**
 * Writes a key of at most `KEY_SIZE_MAX` characters. A value that has no room becomes '', which is
 * invalid.
 */
export function writeStoredKey({ key, value, lease }: StoredKey): Rdata {
  const write = (text: string): Uint8Array =>
    new TextEncoder().encode(JSON.stringify([key, text, ...(lease === '' ? [] : [LEASE])]))
  const bytes = write(value)
  return { bytes: bytes.length > RDATA_BYTES_MAX ? write('') : bytes }
}

/** Reads what `writeStoredKey` wrote; `undefined` for anything else. */
export function readStoredKey(rdata: Uint8Array): StoredKey | undefined {
  const [key, value, lease = ''] = listOf(parseJson(new TextDecoder().decode(rdata)))
  const isKey = typeof key === 'string' && typeof value === 'string' && typeof lease === 'string'
  return isKey ? { key, value, lease } : undefined
}
