/**
 * Verifies the tokens of one issuer, and remembers for a minute which were good.
 * @module
 */
import type { GatewayClock } from '../timing/held-clock.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import { type Claims, type Verified, verifyClaims } from './jwt.ts'

/** How long a check stays valid: an issuer may withdraw keys. */
const CHECKED_FRESH_MS = 60_000
/** Most tokens that are remembered. */
const CHECKED_MAX = 1024

/** An issuer, and which of its tokens count. */
export type IssuerPolicy = {
  /** Its `iss`, a URL. */
  readonly issuer: string
  readonly audiences: readonly string[]
  readonly algorithms: readonly string[]
}

/** What verifying needs. */
export type IssuerTokensOptions<T> = {
  readonly policy: IssuerPolicy
  /** The keys of the issuer. */
  readonly keys: IssuerKeys
  readonly clock: GatewayClock
  /** Returns what the claims of a good token mean; called once for each check. */
  readonly meaning: (claims: Claims) => T | Promise<T>
  /** Gets why a token does not count. */
  readonly onRefused: (reason: string) => void
}

/** A good token. */
type Checked<T> = {
  readonly meaning: T
  /** When it was checked, by the monotonic clock. */
  readonly checkedMs: number
  /** When it expires, by the wall clock. */
  readonly expiresMs: number
}

/** The tokens of one issuer; `T` is what they mean. */
export class IssuerTokens<T> {
  private readonly options: IssuerTokensOptions<T>
  private readonly clock: GatewayClock
  private readonly keys: IssuerKeys
  private readonly checked = new Map<string, Checked<T>>()

  constructor(options: IssuerTokensOptions<T>) {
    this.options = options
    this.clock = options.clock
    this.keys = options.keys
  }

  /**
   * Returns what a token means; `undefined` when it does not count.
   * @throws {Error} when the keys of the issuer cannot be read
   */
  async find(token: string): Promise<T | undefined> {
    const known = this.findAtOnce(token)
    if (known !== undefined) return known
    const first = await this.verify(token, await this.keys.current())
    if (!('refusal' in first)) return first.meaning
    // The signing key may be newer than the known ones.
    const newer = first.isKeyUnknown ? await this.keys.newer() : undefined
    const last = newer === undefined ? first : await this.verify(token, newer)
    if (!('refusal' in last)) return last.meaning
    this.options.onRefused(last.refusal)
    return undefined
  }

  /**
   * Returns what a token means that {@link find} checked within the last minute and that has not
   * expired; `undefined` when it has to be checked.
   */
  findAtOnce(token: string): T | undefined {
    const known = this.checked.get(token)
    if (known === undefined || this.clock.elapsed() - known.checkedMs >= CHECKED_FRESH_MS) {
      return undefined
    }
    return this.clock.now() < known.expiresMs ? known.meaning : undefined
  }

  private async verify(
    token: string,
    keys: readonly unknown[],
  ): Promise<Checked<T> | Exclude<Verified, { claims: Claims }>> {
    const { policy, meaning } = this.options
    const nowSeconds = this.clock.now() / 1000
    const verified = await verifyClaims(token, keys, { ...policy, nowSeconds })
    if ('refusal' in verified) return verified
    const { claims } = verified
    const expiresMs = typeof claims.exp === 'number' ? claims.exp * 1000 : 0
    const checkedMs = this.clock.elapsed()
    const checked = { meaning: await meaning(claims), checkedMs, expiresMs }
    if (this.checked.size >= CHECKED_MAX) this.checked.clear()
    this.checked.set(token, checked)
    return checked
  }
}
