/**
 * The signed assertions that Cloudflare Access adds to the requests of users who have logged in and
 * of services with an Access token.
 * @module
 */
import type { AccessApplication } from '../config/config.ts'
import { IssuerKeys, type KeysRuntime } from '../jwt/issuer-keys.ts'
import { IssuerTokens } from '../jwt/issuer-tokens.ts'

/** Header of the assertion. Access replaces a header of this name that a client sends. */
export const ASSERTION_HEADER = 'cf-access-jwt-assertion'

/**
 * Creates the tokens of one application. Each means the identities in it: `access:` and the email
 * address, and `access:@` and its domain; or `access:` and the name of a service token.
 */
export function accessTokens(
  { issuer, audience }: AccessApplication,
  runtime: KeysRuntime & { readonly onRefused: (reason: string) => void },
): IssuerTokens<readonly string[]> {
  const policy = { issuer, audiences: [audience], algorithms: ['RS256'] }
  const place = { issuer, keys: { url: `${issuer}/cdn-cgi/access/certs` } }
  const keys = new IssuerKeys({ ...runtime, ...place })
  return new IssuerTokens({ ...runtime, policy, keys, meaning: identities })
}

function identities({ email, common_name: name }: Readonly<Record<string, unknown>>): string[] {
  if (typeof email === 'string' && email.includes('@')) {
    const address = email.toLowerCase()
    return [`access:${address}`, `access:${address.slice(address.lastIndexOf('@'))}`]
  }
  return typeof name === 'string' && name !== '' ? [`access:${name.toLowerCase()}`] : []
}
