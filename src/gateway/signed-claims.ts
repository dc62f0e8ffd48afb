/**
 * Checks JSON Web Tokens of one kind (RFC 7519 §7.2): compact, signed with RS256, for one issuer
 * and one audience, with an end. A library for all kinds (jose) takes 5 KiB more of the bundle,
 * and what it accepts beyond that would have to be forbidden; the tests compare both.
 * @module
 */
import { decodeBase64url } from '../dns/base64url.ts'

/** What a token says, checked. */
export type Claims = Readonly<Record<string, unknown>>

/** For whom, by whom and when a token has to be. */
export type Expected = {
  readonly issuer: string
  readonly audience: string
  readonly nowSeconds: number
  /** Difference of the clocks that is looked over. */
  readonly skewSeconds: number
}

const ALGORITHM = 'RS256'
const RSA = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
/** Keys must have 2048 bits (RFC 7518 §3.3). */
const MODULUS_BYTES_MIN = 256

/**
 * Reads a token's claims when one of some keys, as a JSON Web Key Set has them (RFC 7517 §5), has
 * signed them and they hold; `undefined` in any other case. Never throws.
 */
export async function verifyClaims(
  token: string,
  keys: readonly unknown[],
  expected: Expected,
): Promise<Claims | undefined> {
  const [head = '', payload = '', mark = '', ...rest] = token.split('.')
  const header = readJson(head)
  const claims = readJson(payload)
  const signature = decodeBase64url(mark)
  if (rest.length > 0 || header === undefined || claims === undefined) return undefined
  // Whatever has to be understood (`crit`, RFC 7515 §4.1.11) is not.
  if (header.alg !== ALGORITHM || 'crit' in header || signature === undefined) return undefined
  const key = await keyOf(keys, header.kid)
  if (key === undefined || !hold(claims, expected)) return undefined
  const signed = new TextEncoder().encode(`${head}.${payload}`)
  const octets = new Uint8Array(signature)
  return (await crypto.subtle.verify(RSA.name, key, octets, signed)) ? claims : undefined
}

/** The one key that can be meant: where two can, nobody says which. */
async function keyOf(keys: readonly unknown[], kid: unknown): Promise<CryptoKey | undefined> {
  const [key, second] = keys.filter(isObject).filter((one) => {
    const isNamed = kid === undefined || one.kid === kid
    const isForThis = one.kty === 'RSA' && (one.alg ?? ALGORITHM) === ALGORITHM
    return isNamed && isForThis && (one.use ?? 'sig') === 'sig'
  })
  const { n, e } = key ?? {}
  if (second !== undefined || typeof n !== 'string' || typeof e !== 'string') return undefined
  if ((decodeBase64url(n)?.length ?? 0) < MODULUS_BYTES_MIN) return undefined
  const jwk = { kty: 'RSA', n, e }
  return crypto.subtle.importKey('jwk', jwk, RSA, false, ['verify']).catch(() => undefined)
}

function hold({ iss, aud, exp, nbf = 0 }: Claims, expected: Expected): boolean {
  const { issuer, audience, nowSeconds, skewSeconds } = expected
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  if (iss !== issuer || !audiences.includes(audience)) return false
  if (typeof exp !== 'number' || typeof nbf !== 'number') return false
  return nowSeconds - skewSeconds < exp && nbf <= nowSeconds + skewSeconds
}

function readJson(text: string): Claims | undefined {
  const octets = decodeBase64url(text)
  try {
    const value: unknown = JSON.parse(
      new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(octets),
    )
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
