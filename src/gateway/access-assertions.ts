/**
 * Who a request comes from, as Cloudflare Access says it: a signed assertion that it adds to each
 * request of somebody who has logged in, or of a service with a token of Access.
 * @module
 */
import type { GatewayClock } from './held-clock.ts'
import { type After, SharedLoads } from './shared-loads.ts'
import { verifyClaims } from './signed-claims.ts'

/** Header that Access sets, and that clients cannot: Access puts its own in the place of theirs. */
export const ASSERTION_HEADER = 'cf-access-jwt-assertion'

/** What there is to know about an Access application. */
export type AccessApplication = {
  /** The team's URL, `https://TEAM.cloudflareaccess.com`. */
  readonly issuer: string
  /** The application's audience tag, 64 hexadecimal digits. */
  readonly audience: string
}

/** What checking needs of its runtime. */
export type AssertionOptions = AccessApplication & {
  readonly fetch: (url: string) => Promise<Response>
  readonly after: After
  readonly clock: GatewayClock
}

/** Access changes its keys every six weeks, and has the next ones there before. */
const KEYS_FRESH_MS = 60 * 60 * 1000
/** How long nobody looks again for a key that was not among them. */
const KEYS_RETRY_MS = 30_000
const KEYS_BYTES_MAX = 64 * 1024
const ASSERTION_CHARS_MAX = 8192
/** Difference of the clocks that is looked over. */
const CLOCK_SKEW_SECONDS = 60

/** How long an assertion that was checked is not checked again: its keys may be withdrawn. */
const CHECKED_FRESH_MS = 60_000
/** Assertions that are remembered. */
const CHECKED_MAX = 1024

/** Whose an assertion was found to be, and until when (milliseconds since 1970) that holds. */
type Checked = {
  readonly identities: readonly string[]
  /** When it was checked, by the clock that never goes back. */
  readonly checkedMs: number
  /** When it expires, by the wall clock. */
  readonly expiresMs: number
}

type Keys = { readonly set: readonly unknown[]; readonly readMs: number }

/** Checks assertions. */
export class AccessAssertions {
  private readonly options: AssertionOptions
  private readonly loads: SharedLoads<Keys>
  private keys: Keys | undefined
  private readonly checked = new Map<string, Checked>()

  constructor(options: AssertionOptions) {
    this.options = options
    this.loads = new SharedLoads(options.after)
  }

  /**
   * Says who an assertion is of: `access:` and the mail address, or the name of a service's token;
   * and for mail addresses `access:@` and their domain as well. Nobody when it does not hold.
   * @throws {Error} when the keys of Access cannot be had
   */
  async identitiesOf(assertion: string): Promise<readonly string[]> {
    if (assertion.length > ASSERTION_CHARS_MAX) return []
    const keys = await this.keysOfAtLeast(0)
    const found = await this.verify(assertion, keys)
    if (found !== undefined) return found
    // It may be signed by a key that is newer than those at hand.
    const isDue = this.options.clock.elapsed() - keys.readMs >= KEYS_RETRY_MS
    if (!isDue) return []
    return (await this.verify(assertion, await this.keysOfAtLeast(keys.readMs + 1))) ?? []
  }

  /**
   * Returns whose an assertion is that `identitiesOf` checked within the last minute and that has
   * not expired; `undefined` when it has to be checked.
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

  /** The keys, when they are fresh and were read at a time or later; else they are read again. */
  private async keysOfAtLeast(readMs: number): Promise<Keys> {
    const { keys } = this
    const isFresh = keys !== undefined && this.options.clock.elapsed() - keys.readMs < KEYS_FRESH_MS
    if (isFresh && keys.readMs >= readMs) return keys
    const read = await this.loads.load('', () => this.readKeys())
    this.keys = read
    return read
  }

  private async readKeys(): Promise<Keys> {
    const { issuer, clock } = this.options
    const response = await this.options.fetch(`${issuer}/cdn-cgi/access/certs`)
    const text = await response.text()
    if (!response.ok || text.length > KEYS_BYTES_MAX) {
      throw new Error(`The keys of Access cannot be had: HTTP status ${response.status}`)
    }
    const set: unknown = JSON.parse(text)
    if (!isKeySet(set)) throw new Error('What Access sent are no keys')
    return { set: set.keys, readMs: clock.elapsed() }
  }
}

function identities({ email, common_name: name }: Readonly<Record<string, unknown>>): string[] {
  if (typeof email === 'string' && email.includes('@')) {
    const address = email.toLowerCase()
    return [`access:${address}`, `access:${address.slice(address.lastIndexOf('@'))}`]
  }
  return typeof name === 'string' && name !== '' ? [`access:${name.toLowerCase()}`] : []
}

function isKeySet(value: unknown): value is { readonly keys: readonly unknown[] } {
  return typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys)
}
