/**
 * Who may ask: everybody, or who has the token. Closed unless configured.
 * @module
 */
import { octet } from '../dns/bytes.ts'
import { HttpError } from '../doh/http-error.ts'
import { sha256Hex } from '../snapshot/signature.ts'

/** Who may ask a gateway. */
export type Access =
  | { readonly kind: 'public' }
  | { readonly kind: 'token'; readonly sha256: string }
  | { readonly kind: 'closed' }

const CHALLENGE = 'Bearer realm="kubedoh", Basic realm="kubedoh"'

/**
 * Lets a request pass or not.
 * @param pathToken the token in the path, for clients that can send no headers
 * @throws {HttpError} 401; the same whether the token is missing or wrong
 */
export async function checkAccess(
  access: Access,
  request: Request,
  pathToken: string | undefined,
): Promise<void> {
  if (access.kind === 'public') return
  const token = pathToken ?? headerToken(request)
  if (access.kind === 'token' && token !== undefined && (await hasHash(token, access.sha256)))
    return
  throw new HttpError(401, 'unauthorized', 'A token is needed', { 'www-authenticate': CHALLENGE })
}

/** Tells whether a token has a hash. Constant in time, the hash of the token being compared. */
export async function hasHash(token: string, sha256: string): Promise<boolean> {
  return equalSecrets(await sha256Hex(new TextEncoder().encode(token)), sha256)
}

/** Reads the token of a Bearer header (RFC 6750 §2.1) or the password of a Basic one (RFC 7617). */
export function headerToken(request: Request): string | undefined {
  const header = request.headers.get('authorization') ?? ''
  const [, scheme = '', value = ''] = /^(\w+)\s+(\S+)$/.exec(header) ?? []
  if (scheme.toLowerCase() === 'bearer') return value
  if (scheme.toLowerCase() !== 'basic') return undefined
  try {
    const text = atob(value)
    return text.slice(text.indexOf(':') + 1)
  } catch {
    return undefined
  }
}

/** Compares two texts of one length in a time that does not depend on where they differ. */
function equalSecrets(a: string, b: string): boolean {
  const left = new TextEncoder().encode(a)
  const right = new TextEncoder().encode(b)
  if (left.length !== right.length) return false
  let difference = 0
  for (let i = 0; i < left.length; i++) difference |= octet(left, i) ^ octet(right, i)
  return difference === 0
}
