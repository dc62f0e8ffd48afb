/**
 * Messages of etcd's JSON gateway, which encodes protocol buffers as JSON: 64-bit numbers as
 * strings, bytes in base64, and no field for a zero
 * (https://etcd.io/docs/v3.5/dev-guide/api_grpc_gateway/).
 * @module
 */
import { isRecord, listOf, recordOf, textOf } from '../../dns/bytes/unknown.ts'
import type { StoredKey } from '../../snapshot/records/stored-keys.ts'

/** A page of a range. */
export type RangePage = {
  /** The store's revision of this page. */
  readonly revision: number
  /** ID of the etcd cluster. */
  readonly cluster: string
  readonly keys: readonly StoredKey[]
  /** Whether more keys follow. */
  readonly hasMore: boolean
}

/** A change of a key. */
export type KeyChange =
  | { readonly kind: 'put'; readonly stored: StoredKey }
  | { readonly kind: 'delete'; readonly key: string }

/** A message of a watch. */
export type WatchMessage =
  /** The changes up to a revision; none in a progress report. */
  | { readonly kind: 'changes'; readonly changes: readonly KeyChange[]; readonly revision: number }
  /** The watch has started, at the store's revision. */
  | { readonly kind: 'created'; readonly revision: number; readonly cluster: string }
  /** The watch has ended. */
  | { readonly kind: 'cancelled'; readonly reason: string; readonly isCompacted: boolean }
  | { readonly kind: 'error'; readonly reason: string; readonly code: number | undefined }

type Fields = Readonly<Record<string, unknown>>

/** Converts a byte string with a character for each byte, as in `StoredKey`, to base64. */
export function toBase64(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('base64')
}

/** Converts text to its UTF-8 bytes, with a character for each byte. */
export function bytesOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

/** Parses the response to a range request. Never throws. */
export function parseKeyRange(value: unknown): RangePage {
  const { header, kvs, more } = recordOf(value)
  return {
    ...parseHeader(header),
    keys: listOf(kvs).map(parseKey),
    hasMore: more === true,
  }
}

/** Parses a message of a watch. Never throws. */
export function parseWatchMessage(value: unknown): WatchMessage {
  const { result, error } = recordOf(value)
  if (error !== undefined) return { kind: 'error', ...parseError(error) }
  const { header, events, created, canceled, cancel_reason, compact_revision } = recordOf(result)
  if (canceled === true) {
    const isCompacted = numberOf(compact_revision) > 0
    return { kind: 'cancelled', reason: textOf(cancel_reason) || 'cancelled', isCompacted }
  }
  if (created === true) return { kind: 'created', ...parseHeader(header) }
  const list = listOf(events).map(recordOf)
  let revision = list.length === 0 ? numberOf(recordOf(header).revision) : 0
  for (const { kv } of list) {
    revision = Math.max(revision, numberOf(recordOf(kv).mod_revision))
  }
  return { kind: 'changes', revision, changes: list.map(parseChange) }
}

/** Parses the remaining seconds of a lease; 0 or less if it has expired. Never throws. */
export function parseTimeToLive(value: unknown): number {
  return numberOf(recordOf(value).TTL)
}

/** Parses the token of an authentication; '' for none. Never throws. */
export function parseToken(value: unknown): string {
  return textOf(recordOf(value).token)
}

/** Parses an error of any etcd version, with its gRPC status code. Never throws. */
export function parseError(value: unknown): { reason: string; code: number | undefined } {
  const { error, message, code, grpc_code } = recordOf(value)
  if (isRecord(error)) return parseError(error)
  const reason = textOf(message) || textOf(error) || 'an error without a reason'
  const number = code ?? grpc_code
  return { reason, code: typeof number === 'number' ? number : undefined }
}

function parseHeader(header: unknown): { revision: number; cluster: string } {
  const { revision, cluster_id } = recordOf(header)
  return { revision: numberOf(revision), cluster: textOf(cluster_id) }
}

function parseChange({ type, kv }: Fields): KeyChange {
  const stored = parseKey(kv)
  return type === 'DELETE' ? { kind: 'delete', key: stored.key } : { kind: 'put', stored }
}

function parseKey(kv: unknown): StoredKey {
  const { key, value, lease } = recordOf(kv)
  const id = textOf(lease)
  return {
    key: Buffer.from(textOf(key), 'base64').toString('latin1'),
    value: Buffer.from(textOf(value), 'base64').toString('utf8'),
    lease: id === '0' ? '' : id,
  }
}

function numberOf(value: unknown): number {
  const number = Number(value ?? 0)
  return Number.isFinite(number) ? number : 0
}
