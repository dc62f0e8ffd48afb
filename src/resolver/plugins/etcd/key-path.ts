/**
 * The paths of DNS names in etcd, as SkyDNS writes them.
 * @module
 */
import { toLatin1 } from '../../../dns/bytes/bytes.ts'
import { formatLabel, labelOffsets, parseName } from '../../../dns/names/name.ts'

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
