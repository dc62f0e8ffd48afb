/**
 * The tokens that a gateway signs itself, in exchange for those of issuers.
 * @module
 */
import type { ExchangeKey } from '../config/exchange-key.ts'
import { signClaims } from './jwt.ts'

/**
 * The `iss` and `aud` of tokens that a gateway signs; no issuer of ISSUERS has it: it is no
 * URL.
 */
export const OWN_ISSUER = 'kubedoh'
/** Their algorithm. */
export const OWN_ALGORITHM = 'EdDSA'

/** What a token says that a gateway signs. */
export type OwnClaims = {
  /** The issuer that knows the client, and its name there. */
  readonly subject: string
  /** Identifies the rule that allows what the token allows. */
  readonly rule: string
  /** Claims that the rule needs. */
  readonly more: Readonly<Record<string, unknown>>
  readonly issuedMs: number
  readonly expiresMs: number
}

/** Signs a token. */
export function signOwn(
  { sign, jwk }: ExchangeKey,
  { subject, rule, more, issuedMs, expiresMs }: OwnClaims,
): Promise<string> {
  const claims = {
    ...more,
    iss: OWN_ISSUER,
    aud: OWN_ISSUER,
    sub: subject,
    rule,
    iat: Math.floor(issuedMs / 1000),
    exp: Math.floor(expiresMs / 1000),
  }
  return signClaims(claims, { alg: OWN_ALGORITHM, kid: jwk.kid }, sign)
}
