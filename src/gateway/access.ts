/**
 * Which clients may query and what they see: everybody with `PUBLIC`, holders of the configured
 * client token, and holders of tokens that the operator created. Closed unless configured.
 * @module
 */

import type { ClientVisibility } from '../chain/client.ts'
import type { MaybePromise } from '../chain/maybe-promise.ts'
import { HttpError } from '../doh/http-error.ts'
import { hasHash } from './token.ts'
import type { KnownToken, TokenBook } from './token-book.ts'

/** Which clients may query a gateway without a token of the token store. */
export type Access = {
  /** Whether every client may, and sees everything. */
  readonly isPublic: boolean
  /** SHA-256 of the client token, which sees everything; `undefined` for none. */
  readonly sha256: string | undefined
}

/** A client that was admitted. */
export type Caller = {
  /** What the client may see; `undefined` for everything. */
  readonly visibility: ClientVisibility | undefined
  /** The token whose rate limit counts; `undefined` counts by address. */
  readonly tokenId: string | undefined
  /** Whether the client may use `/v1/explain`. */
  readonly mayExplain: boolean
}

/** The credentials of a request other than its headers. */
export type Credentials = {
  /** The token in the path, for clients that cannot send headers. */
  readonly pathToken: string | undefined
  /** Returns the identities that the platform or a signature has verified. */
  readonly identities: () => MaybePromise<readonly string[]>
}

const EVERYBODY: Caller = { visibility: undefined, tokenId: undefined, mayExplain: false }
const CHALLENGE = 'Bearer realm="kubedoh", Basic realm="kubedoh"'

/**
 * Finds the caller of a request.
 * @param book the tokens that the operator created
 * @throws {HttpError} 401, the same for a missing, wrong, revoked and expired token
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
  // Browsers add their certificate or login to requests that a page of another site sends.
  const isCrossSite = request.headers.get('sec-fetch-site') === 'cross-site'
  for (const identity of isCrossSite ? [] : await identities()) {
    const known = await book.findIdentity(identity)
    if (known !== undefined) return callerOf(known)
  }
  throw new HttpError(401, 'unauthorized', 'A token is needed', { 'www-authenticate': CHALLENGE })
}

function callerOf({ visibility, record }: KnownToken): Caller {
  return { visibility, tokenId: record.id, mayExplain: record.scope.explain === true }
}

/**
 * Reads the token of a Bearer header (RFC 6750 §2.1), or the password of a Basic one (RFC 7617);
 * the user name when the password is empty.
 */
export function headerToken(request: Request): string | undefined {
  return tokenOf(request.headers.get('authorization') ?? '')
}

/** As {@link headerToken}, for the value of the `Authorization` header. */
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
