/**
 * The keys of an etcd in memory, sorted, each parsed once; and the paths of DNS names (SkyDNS).
 * @module
 */

import { toLatin1 } from '../../bytes/bytes.ts'
import { formatLabel, labelOffsets, parseName } from '../../dns/name.ts'
import { parseService, type Service, type StoredKey } from './service.ts'

/** The service of a key, or the reason why its value is not valid. */
export type KeyEntry = Service | string

/** Keys in the order of their bytes. */
export class KeyTable {
  private readonly keys: string[] = []
  private readonly entries = new Map<string, KeyEntry>()

  get size(): number {
    return this.keys.length
  }

  /** Adds or replaces a key. @returns why its value is not valid, if so */
  set(stored: StoredKey): string | undefined {
    const { key } = stored
    if (!this.entries.has(key)) this.keys.splice(this.indexOf(key), 0, key)
    const entry = parseService(stored)
    this.entries.set(key, entry)
    return typeof entry === 'string' ? entry : undefined
  }

  /** Removes a key; ignores an unknown one. */
  delete(key: string): void {
    if (this.entries.delete(key)) this.keys.splice(this.indexOf(key), 1)
  }

  find(key: string): KeyEntry | undefined {
    return this.entries.get(key)
  }

  /** Lists the keys that start with a prefix, in order. */
  *below(prefix: string): Generator<[key: string, entry: KeyEntry]> {
    for (let i = this.indexOf(prefix); i < this.keys.length; i++) {
      const key = this.keys[i] ?? ''
      const entry = this.entries.get(key)
      if (!key.startsWith(prefix) || entry === undefined) return
      yield [key, entry]
    }
  }

  /** Returns the index of the first key from `key` on. Tries the end first: pages are sorted. */
  private indexOf(key: string): number {
    const last = this.keys.at(-1)
    if (last !== undefined && last < key) return this.keys.length
    let low = 0
    let high = this.keys.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.keys[middle] ?? '') < key) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Labels that match any label. */
const WILDCARDS: ReadonlySet<string> = new Set(['*', 'any'])

const encoder = new TextEncoder()

/** Which keys belong to a name. */
type KeyPattern = {
  /** The key to search at or below: that of the name, up to its first wildcard. */
  readonly path: string
  /** The parts that a key must start with, if the name has a wildcard. */
  readonly parts: readonly string[] | undefined
}

/** Cleans a path as Go's path.Join does: with a leading slash and no trailing one. */
export function cleanPath(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.map((part) => `/${part}`).join('')
}

/** Returns the pattern of keys below `prefix`, a clean path, for a name in lower case. */
export function keyPattern(name: Uint8Array, prefix: string): KeyPattern {
  const labels = labelOffsets(name)
    .map((at) => formatLabel(name, at))
    .reverse()
  const wildcard = labels.findIndex((label) => WILDCARDS.has(label))
  const path = cleanPath(
    [prefix, ...labels.slice(0, wildcard < 0 ? undefined : wildcard)].join('/'),
  )
  if (wildcard < 0) return { path, parts: undefined }
  return { path, parts: cleanPath([prefix, ...labels].join('/')).split('/') }
}

/** Whether a key starts with some parts; a wildcard matches any part. */
export function beginsWith(key: string, parts: readonly string[]): boolean {
  const keyParts = key.split('/')
  return parts.every(
    (part, i) => i < keyParts.length && (WILDCARDS.has(part) || part === keyParts[i]),
  )
}

/**
 * Returns the name of a key. As in CoreDNS, removes one part of the path before it, even if the
 * path has more. `undefined` for an invalid name.
 */
export function nameOfKey(key: string): Uint8Array | undefined {
  const parts = key.split('/')
  if (parts.at(-1) === '') parts.pop()
  const labels = parts.slice(2).reverse()
  return labels.length === 0 ? parseName('.') : parseName(escapeBytes(labels.join('.')))
}

/** Parses a name as typed; characters beyond ASCII become UTF-8, without Punycode. */
export function nameOfText(text: string): Uint8Array | undefined {
  return parseName(escapeBytes(toLatin1(encoder.encode(text))))
}

/** Escapes bytes over 0x7e, as `parseName` requires. */
function escapeBytes(text: string): string {
  return text.replaceAll(/[\x7f-\xff]/g, (char) => `\\${char.charCodeAt(0)}`)
}
