/**
 * Checks JSON Web Tokens of one kind (RFC 7519 §7.2): compact, signed with RS256, for one issuer
 * and one audience, with an expiry. The package jose does the work.
 * @module
 */
import { createLocalJWKSet, type JWK, type JWTPayload, jwtVerify } from 'jose'
import { isRecord } from '../bytes/unknown.ts'

/** The claims of a token that was checked. */
export type Claims = Readonly<JWTPayload>

/** The issuer and audience that a token must have, and the time at which it is checked. */
export type Expected = {
  readonly issuer: string
  readonly audience: string
  readonly nowSeconds: number
  /** Difference of the clocks that is tolerated. */
  readonly skewSeconds: number
}

/**
 * Returns a token's claims if they hold and one key of a JSON Web Key Set (RFC 7517 §5) has signed
 * them. Returns `undefined` in any other case, also where two keys could be meant and for RSA keys
 * under 2048 bits (RFC 7518 §3.3). Never throws.
 */
export async function verifyClaims(
  token: string,
  keys: readonly unknown[],
  { issuer, audience, nowSeconds, skewSeconds }: Expected,
): Promise<Claims | undefined> {
  try {
    const { payload, protectedHeader } = await jwtVerify(
      token,
      createLocalJWKSet({ keys: keys.filter(isKey) }),
      {
        issuer,
        audience,
        algorithms: ['RS256'],
        currentDate: new Date(1000 * nowSeconds),
        clockTolerance: skewSeconds,
        requiredClaims: ['exp'],
      },
    )
    // No extension is understood here (`crit`, RFC 7515 §4.1.11); jose understands one.
    return 'crit' in protectedHeader ? undefined : payload
  } catch {
    return undefined
  }
}

/** A set is malformed to jose when one key is no object; the other keys still count here. */
function isKey(value: unknown): value is JWK {
  return isRecord(value) && 'kty' in value
}
