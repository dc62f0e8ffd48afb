/**
 * Finds the sender of a request in memory alone, for the fast path; `findCaller` in `access.ts` is
 * the slow path, which may read the store of tokens and check signatures.
 * @module
 */
import { tokenOf } from './access.ts'
import { type AccessAssertions, ASSERTION_HEADER } from './access-assertions.ts'
import type { RemoteAddress } from './remote-client.ts'
import type { KnownToken, TokenBook } from './token-book.ts'

/** What a request carries, before its body, to say who sends it. */
export type Carriers = RemoteAddress & {
  /** A header by its name in lower case. */
  header(name: string): string | null | undefined
  /** Identities of the sender that the runtime has checked: `cert:…`. None when left out. */
  identities?(): readonly string[]
}

/**
 * Returns the token of a sender that was let in before; `undefined` for the slow path. Like
 * `findCaller`, looks at identities only when the request has no token.
 * @param assertions of Cloudflare Access; `undefined` where the gateway trusts none
 */
export function findKnownSender(
  book: TokenBook,
  assertions: AccessAssertions | undefined,
  { carriers, pathToken }: { readonly carriers: Carriers; readonly pathToken: string | undefined },
): KnownToken | undefined {
  const token = pathToken ?? sentToken(carriers.header('authorization') ?? '')
  if (token !== undefined) return book.findAtOnce(token)
  // A page of another site must not use the certificate or the login that the browser adds.
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

/** Skips the regular expression of `tokenOf`, which takes as long as the answer, for Bearer. */
function sentToken(authorization: string): string | undefined {
  return authorization.startsWith('Bearer ') ? authorization.slice(7) : tokenOf(authorization)
}
