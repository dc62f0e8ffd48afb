/**
 * Verifies JSON Web Tokens (RFC 7519), as RFC 8725 advises: the configuration names the issuer, the
 * audiences and the algorithms, never the token.
 * @module
 */
import { createLocalJWKSet, errors, type JWK, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { decodeBase64url } from '../../dns/bytes/base64url.ts'
import { errorText, isRecord, parseJson } from '../../dns/bytes/unknown.ts'

/** Longest token that is looked at, in characters. */
const CHARS_MAX = 8192
/** Tolerated clock difference. */
const CLOCK_SKEW_SECONDS = 60

/** The claims of a token that was verified. */
export type Claims = Readonly<JWTPayload>

/** What a token must have, and the time at which it is verified. */
export type ExpectedClaims = {
  /** Its `iss`, to the letter. */
  readonly issuer: string
  /** One of them is its `aud`, or in that list. */
  readonly audiences: readonly string[]
  /** Asymmetric ones, such as `RS256`. */
  readonly algorithms: readonly string[]
  readonly nowSeconds: number
}

/** Claims, or why the token does not count, and whether newer keys could change that. */
export type Verified =
  | { readonly claims: Claims }
  | { readonly refusal: string; readonly isKeyUnknown: boolean }

/**
 * Verifies a token by a JSON Web Key Set (RFC 7517 §5). Two keys that could be meant, an RSA key
 * under 2048 bits (RFC 7518 §3.3) and a token without `exp` are refused. Never throws.
 */
export async function verifyClaims(
  token: string,
  keys: readonly unknown[],
  { issuer, audiences, algorithms, nowSeconds }: ExpectedClaims,
): Promise<Verified> {
  if (!isCompact(token)) return refused('it is not a signed token in its only spelling')
  try {
    const { payload, protectedHeader } = await jwtVerify(
      token,
      createLocalJWKSet({ keys: keys.filter(isKey) }),
      {
        issuer,
        audience: [...audiences],
        algorithms: [...algorithms],
        currentDate: new Date(1000 * nowSeconds),
        clockTolerance: CLOCK_SKEW_SECONDS,
        requiredClaims: ['exp'],
      },
    )
    // No extension is understood here (`crit`, RFC 7515 §4.1.11); jose understands one.
    return 'crit' in protectedHeader ? refused('"crit" is not understood') : { claims: payload }
  } catch (error) {
    const isKeyUnknown =
      error instanceof errors.JWKSNoMatchingKey ||
      error instanceof errors.JWSSignatureVerificationFailed
    return { refusal: errorText(error), isKeyUnknown }
  }
}

function refused(refusal: string): Verified {
  return { refusal, isKeyUnknown: false }
}

/** Signs claims. */
export function signClaims(
  claims: Claims,
  header: { readonly alg: string; readonly kid: string },
  key: CryptoKey,
): Promise<string> {
  return new SignJWT(claims).setProtectedHeader(header).sign(key)
}

/**
 * Returns the issuer that a token claims to have, to choose the keys that verify it; `undefined`
 * for what is no JWT.
 */
export function claimedIssuer(token: string): string | undefined {
  if (!isCompact(token)) return undefined
  const payload = decodeBase64url(token.split('.')[1] ?? '')
  const claims = parseJson(new TextDecoder().decode(payload))
  return isRecord(claims) && typeof claims.iss === 'string' ? claims.iss : undefined
}

/** Returns whether a JWT has its only spelling (RFC 7515 §2, §7.1); jose accepts padding. */
function isCompact(token: string): boolean {
  if (token.length > CHARS_MAX) return false
  const parts = token.split('.')
  return parts.length === 3 && parts.every((part) => decodeBase64url(part) !== undefined)
}

/** jose rejects a whole set when one key is not an object; the other keys still count here. */
function isKey(value: unknown): value is JWK {
  return isRecord(value) && 'kty' in value
}
