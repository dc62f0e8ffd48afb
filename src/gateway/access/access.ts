/**
 * Which clients may query and what they see: everybody with `PUBLIC`, holders of the configured
 * client token, and holders of tokens that the operator created. Closed unless configured.
 * @module
 */
import type { Client, ClientVisibility } from '../../resolver/contract/client.ts'
import type { MaybePromise } from '../../resolver/contract/maybe-promise.ts'
import type { Access } from '../config/config.ts'
import { HttpError } from '../doh/http-error.ts'
import { type AccessAssertions, ASSERTION_HEADER } from './access-assertions.ts'
import { hasHash } from './token.ts'
import type { KnownToken, TokenBook } from './token-book.ts'

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
function tokenOf(authorization: string): string | undefined {
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

/** The parts of a request that may identify its client. */
export type Carriers = RemoteAddress & {
  /** A header by its name in lower case. */
  header(name: string): string | null | undefined
  /** Client identities that the runtime has verified: `cert:SHA256`. None when left out. */
  identities?(): readonly string[]
}

/**
 * Returns the token of a client that was admitted before; `undefined` for the slow path. Like
 * `findCaller`, ignores identities when the request has a token.
 * @param assertions of Cloudflare Access; `undefined` when the gateway trusts none
 */
export function findKnownCaller(
  book: TokenBook,
  assertions: AccessAssertions | undefined,
  { carriers, pathToken }: { readonly carriers: Carriers; readonly pathToken: string | undefined },
): KnownToken | undefined {
  const token = tokenSent(carriers, pathToken)
  if (token !== undefined) return book.findAtOnce(token)
  // A page of another site must not use the certificate or login that the browser adds.
  if (carriers.header('sec-fetch-site') === 'cross-site') return undefined
  const known = firstKnown(book, carriers.identities?.())
  if (known !== undefined || assertions === undefined) return known
  return firstKnown(book, assertions.identitiesAtOnce(carriers.header(ASSERTION_HEADER) ?? ''))
}

function firstKnown(book: TokenBook, identities: readonly string[] = []): KnownToken | undefined {
  for (const identity of identities) {
    const known = book.findIdentityAtOnce(identity)
    if (known !== undefined) return known
  }
  return undefined
}

/** Returns the token of a request: the one in the path, else the one in its header. */
export function tokenSent(
  carriers: Pick<Carriers, 'header'>,
  pathToken: string | undefined,
): string | undefined {
  return pathToken ?? sentToken(carriers.header('authorization') ?? '')
}

/** Avoids the regular expression of `tokenOf` for Bearer: it takes as long as the answer. */
function sentToken(authorization: string): string | undefined {
  return authorization.startsWith('Bearer ') ? authorization.slice(7) : tokenOf(authorization)
}

/** A peer whose address is formatted on demand. */
type RemoteAddress = { readonly address: string }

/** A client whose address is formatted only when it is read. */
export class RemoteClient implements Client {
  readonly port = 0
  readonly transport = 'https'
  readonly visibility?: ClientVisibility
  readonly bytesMax?: number
  private readonly remote: RemoteAddress

  /**
   * @param visibility what the client may see; everything when left out
   * @param bytesMax largest response that the client takes; any when left out
   */
  constructor(remote: RemoteAddress, visibility?: ClientVisibility, bytesMax?: number) {
    this.remote = remote
    if (visibility !== undefined) this.visibility = visibility
    if (bytesMax !== undefined) this.bytesMax = bytesMax
  }

  /** The address as text, without a port. */
  get address(): string {
    return this.remote.address
  }
}
