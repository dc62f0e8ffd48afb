/**
 * Finds the caller of a request in memory, for the fast path. `findCaller` in `access.ts` is the
 * slow path, which may read the token store and check signatures.
 * @module
 */
import { tokenOf } from './access.ts'
import { type AccessAssertions, ASSERTION_HEADER } from './access-assertions.ts'
import type { RemoteAddress } from './remote-client.ts'
import type { KnownToken, TokenBook } from './token-book.ts'

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
  const token = pathToken ?? sentToken(carriers.header('authorization') ?? '')
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

/** Avoids the regular expression of `tokenOf` for Bearer: it takes as long as the answer. */
function sentToken(authorization: string): string | undefined {
  return authorization.startsWith('Bearer ') ? authorization.slice(7) : tokenOf(authorization)
}
