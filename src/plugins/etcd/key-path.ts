/**
 * Names as keys of etcd and back: labels from the right, with slashes between, below a path
 * (CoreDNS, plugin/etcd/msg/path.go).
 * @module
 */
import { toLatin1 } from '../../bytes/bytes.ts'
import { formatLabel, labelOffsets, parseName } from '../../dns/name.ts'

/** Labels that stand for any label. */
const WILDCARDS: ReadonlySet<string> = new Set(['*', 'any'])

const encoder = new TextEncoder()

/** Which keys belong to a name. */
export type KeyPattern = {
  /** The key to look at or below: that of the name, or what is before its first wildcard. */
  readonly path: string
  /** The parts that a key must begin with, if the name has a wildcard. */
  readonly parts: readonly string[] | undefined
}

/** Cleans a path as Go's path.Join does: it begins with a slash, and does not end with one. */
export function cleanPath(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.map((part) => `/${part}`).join('')
}

/** Finds which keys below `prefix`, a clean path, belong to a name in lower case. */
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

/** Tells whether a key begins with some parts, of which wildcards match any. */
export function beginsWith(key: string, parts: readonly string[]): boolean {
  const keyParts = key.split('/')
  return parts.every(
    (part, i) => i < keyParts.length && (WILDCARDS.has(part) || part === keyParts[i]),
  )
}

/**
 * Reads the name that a key stands for. Of the path before it one part is taken off, however many
 * it has, as in CoreDNS. `undefined` when what is left is not a name.
 */
export function nameOfKey(key: string): Uint8Array | undefined {
  const parts = key.split('/')
  if (parts.at(-1) === '') parts.pop()
  const labels = parts.slice(2).reverse()
  return labels.length === 0 ? parseName('.') : parseName(escapeBytes(labels.join('.')))
}

/** Parses a name as people type it, which may have letters beyond ASCII: in UTF-8, unchanged. */
export function nameOfText(text: string): Uint8Array | undefined {
  return parseName(escapeBytes(toLatin1(encoder.encode(text))))
}

/** Names take bytes over U+007E as numbers only. */
function escapeBytes(text: string): string {
  return text.replaceAll(/[\x7f-\xff]/g, (char) => `\\${char.charCodeAt(0)}`)
}
