/**
 * Who may ask, and what they see: everybody, who has the token of the configuration, who has one
 * that an operator made. Closed unless configured.
 * @module
 */

import type { ClientVisibility } from '../chain/client.ts'
import type { MaybePromise } from '../chain/maybe-promise.ts'
import { HttpError } from '../doh/http-error.ts'
import { hasHash } from './token.ts'
import type { KnownToken, TokenBook } from './token-book.ts'

/** Who may ask a gateway. */
export type Access = {
  /** Whether everybody may, and see everything. */
  readonly isPublic: boolean
  /** SHA-256 of a token that sees everything; `undefined` for none. */
  readonly sha256: string | undefined
}

/** Who asks. */
export type Caller = {
  /** What they see; `undefined` for everything. */
  readonly view: ClientVisibility | undefined
  /** Who they are, to count their requests by; `undefined` for everybody. */
  readonly tokenId: string | undefined
  /** Whether they may have answers explained. */
  readonly mayExplain: boolean
}

/** What a request carries, beside its headers, to say who sends it. */
export type Credentials = {
  /** The token in the path, for clients that can send no headers. */
  readonly pathToken: string | undefined
  /** Finds the identities that the platform, or a signature, vouches for. */
  readonly identities: () => MaybePromise<readonly string[]>
}

const EVERYBODY: Caller = { view: undefined, tokenId: undefined, mayExplain: false }
const CHALLENGE = 'Bearer realm="kubedoh", Basic realm="kubedoh"'

/**
 * Finds out who sends a request.
 * @param book the tokens that an operator made
 * @throws {HttpError} 401; the same whether the token is missing, wrong, revoked or too old
 */
export async function findCaller(
  access: Access,
  book: TokenBook,
  request: Request,
  { pathToken, identities }: Credentials,
): Promise<Caller> {
  if (access.isPublic) return EVERYBODY
  const token = pathToken ?? headerToken(request)
  if (token !== undefined) {
    const known = await book.find(token)
    if (known !== undefined) return callerOf(known)
    if (access.sha256 !== undefined && (await hasHash(token, access.sha256))) {
      return { ...EVERYBODY, mayExplain: true }
    }
  }
  // A page of another site has the browser's certificate or login go with what it sends here.
  const isCrossSite = request.headers.get('sec-fetch-site') === 'cross-site'
  for (const identity of isCrossSite ? [] : await identities()) {
    const known = await book.findIdentity(identity)
    if (known !== undefined) return callerOf(known)
  }
  throw new HttpError(401, 'unauthorized', 'A token is needed', { 'www-authenticate': CHALLENGE })
}

function callerOf({ view, record }: KnownToken): Caller {
  return { view, tokenId: record.id, mayExplain: record.scope.explain === true }
}

/**
 * Reads the token of a Bearer header (RFC 6750 §2.1) or the password of a Basic one (RFC 7617),
 * the user's name where there is no password.
 */
export function headerToken(request: Request): string | undefined {
  return tokenOf(request.headers.get('authorization') ?? '')
}

/** Reads the token of an `Authorization` header's value, as {@link headerToken} does. */
export function tokenOf(authorization: string): string | undefined {
  if (authorization === '') return undefined
  const [, scheme = '', value = ''] = /^(\w+)\s+(\S+)$/.exec(authorization) ?? []
  if (scheme.toLowerCase() === 'bearer') return value
  if (scheme.toLowerCase() !== 'basic') return undefined
  try {
    const text = atob(value)
    const colon = text.indexOf(':')
    const password = text.slice(colon + 1)
    return password === '' ? text.slice(0, Math.max(0, colon)) : password
  } catch {
    return undefined
  }
}
