/**
 * Reads the texts of ClientTokens from Secrets by their names, and keeps only their hashes. The
 * exporter needs no right to list or watch Secrets.
 * @module
 */
import type { Timing } from '../cluster/api/backoff.ts'
import {
  ApiError,
  type ObjectApi,
  STATUS_FORBIDDEN,
  STATUS_NOT_FOUND,
} from '../cluster/api/object-api.ts'
import type { ClientToken, TokenSecretRef } from '../cluster/objects/parse-client-token.ts'
import { recordOf, textOf } from '../dns/bytes/unknown.ts'
import {
  CLIENT_TOKEN_TEXT,
  isClientToken,
  type TokenRefusal,
} from '../snapshot/format/client-tokens.ts'
import { sha256Hex } from '../snapshot/format/signature.ts'

/**
 * Age from which on a Secret is read again, as its text may have been replaced: within the minute
 * after which the exporter looks again.
 */
const FRESH_MS = 55_000
/** The same where there was no text: tools create a Secret soon after the object that names it. */
const REFUSED_FRESH_MS = 5000
/** Most characters in base64: the longest text has 132. */
const BASE64_MAX = 1024

/** The hash of a token's text, or why there is none. */
export type TokenHash = { readonly sha256: string } | { readonly refusal: TokenRefusal }

type Read = { readonly hash: TokenHash; readonly readMs: number }

/** The Secrets of ClientTokens. */
export class ClientTokenSecrets {
  private readonly api: Pick<ObjectApi, 'send'>
  private readonly elapsed: Timing['elapsed']
  private read: Map<string, Read> = new Map()

  constructor(api: Pick<ObjectApi, 'send'>, elapsed: Timing['elapsed']) {
    this.api = api
    this.elapsed = elapsed
  }

  /**
   * Returns the hash of an object's token. What was read last counts for a minute, and while the
   * API server is away.
   * @throws {ApiError} when the API server is away, and the Secret was never read
   */
  async hashOf(
    { namespace }: Pick<ClientToken, 'namespace'>,
    { name, key }: TokenSecretRef,
    signal: AbortSignal,
  ): Promise<TokenHash> {
    const place = `${namespace}/${name}/${key}`
    const known = this.read.get(place)
    if (known !== undefined && this.isFresh(known)) return known.hash
    const path = `/api/v1/namespaces/${namespace}/secrets/${name}`
    try {
      const found = await this.api.send({ method: 'GET', path, resource: 'secrets' }, signal)
      return this.keep(place, await hashIn(found, { name, key }))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const refusal = refusalOf(error, { namespace, name })
      if (refusal !== undefined) return this.keep(place, { refusal })
      if (known === undefined) throw error
      return known.hash
    }
  }

  private isFresh({ hash, readMs }: Read): boolean {
    return this.elapsed() - readMs < ('refusal' in hash ? REFUSED_FRESH_MS : FRESH_MS)
  }

  /** Forgets Secrets that were not read for so long that no object names them. */
  sweep(): void {
    const nowMs = this.elapsed()
    const kept = [...this.read].filter(([, { readMs }]) => nowMs - readMs < 10 * FRESH_MS)
    this.read = new Map(kept)
  }

  private keep(place: string, hash: TokenHash): TokenHash {
    this.read.set(place, { hash, readMs: this.elapsed() })
    return hash
  }
}

/** No message has a part of the Secret. */
async function hashIn(found: unknown, { name, key }: TokenSecretRef): Promise<TokenHash> {
  const value = textOf(recordOf(recordOf(found).data)[key])
  if (value === '') {
    return refuse('SecretNotFound', `the Secret "${name}" has no key "${key}"`)
  }
  const text = value.length > BASE64_MAX ? '' : Buffer.from(value, 'base64').toString().trim()
  if (isClientToken(text)) return { sha256: await sha256Hex(new TextEncoder().encode(text)) }
  return refuse('InvalidToken', `key "${key}" of the Secret "${name}" is not ${CLIENT_TOKEN_TEXT}`)
}

/** Returns why a Secret does not count; `undefined` where the API server may answer later. */
function refusalOf(
  { status }: ApiError,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): TokenRefusal | undefined {
  if (status === STATUS_NOT_FOUND) {
    return { reason: 'SecretNotFound', message: `there is no Secret "${name}"` }
  }
  if (status !== STATUS_FORBIDDEN) return undefined
  const rule = '{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}'
  const message = `the exporter may not read Secrets of "${namespace}"; it needs ${rule}`
  return { reason: 'SecretForbidden', message }
}

function refuse(reason: string, message: string): TokenHash {
  return { refusal: { reason, message } }
}
