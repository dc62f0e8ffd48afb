/**
 * Checks the signed assertions that Cloudflare Access adds to the requests of users who have logged
 * in and of services with an Access token.
 * @module
 */

import { createLocalJWKSet, type JWK, type JWTPayload, jwtVerify } from 'jose'
import { decodeBase64url } from '../../dns/bytes/base64url.ts'
import { isRecord } from '../../dns/bytes/unknown.ts'
import type { AccessApplication } from '../config/config.ts'
import { Follower } from '../timing/follower.ts'
import type { GatewayClock } from '../timing/held-clock.ts'
import type { After } from '../timing/within.ts'

/** Header of the assertion. Access replaces a header of this name that a client sends. */
export const ASSERTION_HEADER = 'cf-access-jwt-assertion'

/** An application, and what checking its assertions needs of the runtime. */
type AssertionOptions = AccessApplication & {
  readonly fetch: (url: string) => Promise<Response>
  readonly after: After
  readonly clock: GatewayClock
}

/** Access rotates its keys every six weeks, and publishes the next ones beforehand. */
const KEYS_FRESH_MS = 60 * 60 * 1000
/** How long an unknown key does not cause another request for the keys. */
const KEYS_RETRY_MS = 30_000
const KEYS_BYTES_MAX = 64 * 1024
const ASSERTION_CHARS_MAX = 8192
/** Tolerated clock difference. */
const CLOCK_SKEW_SECONDS = 60

/** How long a check stays valid; Access may withdraw keys. */
const CHECKED_FRESH_MS = 60_000
/** Most assertions that are remembered. */
const CHECKED_MAX = 1024

/** The result of a check. */
type Checked = {
  readonly identities: readonly string[]
  /** When it was checked, by the monotonic clock. */
  readonly checkedMs: number
  /** When it expires, by the wall clock. */
  readonly expiresMs: number
}

type Keys = { readonly set: readonly unknown[]; readonly readMs: number }

/** Checks the assertions of one application. */
export class AccessAssertions {
  private readonly options: AssertionOptions
  private readonly follower: Follower
  private keys: Keys | undefined
  /** When an unknown key last caused a request for the keys. */
  private triedMs = Number.NEGATIVE_INFINITY
  private failure = ''
  private readonly checked = new Map<string, Checked>()

  constructor(options: AssertionOptions) {
    this.options = options
    this.follower = new Follower({
      ...options,
      elapsed: options.clock.elapsed,
      refreshMs: KEYS_FRESH_MS,
      watch: async (_, seen) => {
        this.keys = await this.readKeys()
        seen()
      },
      onError: (message) => {
        this.failure = message
      },
    })
  }

  /**
   * Returns the identities in an assertion: `access:` and the email address, and `access:@` and its
   * domain; or `access:` and the name of a service token. None for an invalid assertion.
   * @throws {Error} when the keys of Access cannot be read
   */
  async identitiesOf(assertion: string): Promise<readonly string[]> {
    if (assertion.length > ASSERTION_CHARS_MAX || !isCompact(assertion)) return []
    const keys = await this.keysAfter(this.follower.look())
    const found = await this.verify(assertion, keys)
    if (found !== undefined) return found
    // The signing key may be newer than the known ones.
    const { elapsed } = this.options.clock
    if (elapsed() - Math.max(keys.readMs, this.triedMs) < KEYS_RETRY_MS) return []
    this.triedMs = elapsed()
    return (await this.verify(assertion, await this.keysAfter(this.follower.relook()))) ?? []
  }

  /**
   * Returns the identities in an assertion that {@link identitiesOf} checked within the last minute
   * and that has not expired; `undefined` when it has to be checked.
   */
  identitiesAtOnce(assertion: string): readonly string[] | undefined {
    const { now, elapsed } = this.options.clock
    const known = this.checked.get(assertion)
    if (known === undefined || elapsed() - known.checkedMs >= CHECKED_FRESH_MS) return undefined
    return now() < known.expiresMs ? known.identities : undefined
  }

  private async verify(assertion: string, { set }: Keys): Promise<readonly string[] | undefined> {
    const { issuer, audience, clock } = this.options
    const claims = await verifyClaims(assertion, set, {
      issuer,
      audience,
      nowSeconds: clock.now() / 1000,
      skewSeconds: CLOCK_SKEW_SECONDS,
    })
    if (claims === undefined) return undefined
    const expiresMs = typeof claims.exp === 'number' ? claims.exp * 1000 : 0
    const found = { identities: identities(claims), checkedMs: clock.elapsed(), expiresMs }
    if (this.checked.size >= CHECKED_MAX) this.checked.clear()
    this.checked.set(assertion, found)
    return found.identities
  }

  private async keysAfter(isRead: Promise<boolean>): Promise<Keys> {
    if ((await isRead) && this.keys !== undefined) return this.keys
    throw new Error(this.failure)
  }

  private async readKeys(): Promise<Keys> {
    const { issuer, clock } = this.options
    const response = await this.options.fetch(`${issuer}/cdn-cgi/access/certs`)
    const text = await response.text()
    if (!response.ok || text.length > KEYS_BYTES_MAX) {
      throw new Error(`Cannot read the keys of Access: HTTP status ${response.status}`)
    }
    const set: unknown = JSON.parse(text)
    if (!isRecord(set) || !Array.isArray(set.keys))
      throw new Error('Cannot read the keys of Access: not a JSON Web Key Set')
    return { set: set.keys, readMs: clock.elapsed() }
  }
}

/** Returns whether a JWT has its only spelling (RFC 7515 §2, §7.1); jose accepts padding. */
function isCompact(assertion: string): boolean {
  return assertion.split('.').every((part) => decodeBase64url(part) !== undefined)
}

function identities({ email, common_name: name }: Readonly<Record<string, unknown>>): string[] {
  if (typeof email === 'string' && email.includes('@')) {
    const address = email.toLowerCase()
    return [`access:${address}`, `access:${address.slice(address.lastIndexOf('@'))}`]
  }
  return typeof name === 'string' && name !== '' ? [`access:${name.toLowerCase()}`] : []
}

/** The claims of a token that was checked. */
export type Claims = Readonly<JWTPayload>

/** The issuer and audience that a token must have, and the time at which it is checked. */
export type ExpectedClaims = {
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
  { issuer, audience, nowSeconds, skewSeconds }: ExpectedClaims,
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

/** jose rejects a whole set when one key is not an object; the other keys still count here. */
function isKey(value: unknown): value is JWK {
  return isRecord(value) && 'kty' in value
}
