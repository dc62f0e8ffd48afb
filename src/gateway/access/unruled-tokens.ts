/**
 * Remembers which tokens issuers have verified though no rule fits them: a ClientToken may give
 * their clients a scope.
 * @module
 */
import type { Reach, UnruledSubject } from './object-subjects.ts'

/** Most tokens that are remembered. */
const TOKENS_MAX = 2048

/** A client that no rule fits. */
export type UnruledClient = UnruledSubject & {
  /** The identity of the record that revokes it. */
  readonly revocation: string
  /** When its token was issued, in milliseconds since 1970; 0 when it does not say so. */
  readonly issuedMs: number
}

/** What one issuer says of a token. */
export type Verified = {
  readonly client: Omit<UnruledClient, 'reaches'>
  /** Whose objects count for tokens of the issuer. */
  readonly reach: Reach
  /** Returns whether the issuer remembers the check still. */
  readonly isChecked: () => boolean
}

/** What issuers of one name say of a token that none of their rules lets in. */
export class NotFound {
  readonly verified: Verified[] = []
  /** Whether a rule fits, and refuses the token. */
  hasRule = false
  private failure: unknown
  private isAnyBlind = false

  /** Notes an issuer whose keys cannot be read. */
  fail(error: unknown, reach: Reach | undefined): void {
    this.failure = error
    this.isAnyBlind ||= reach?.isOfApiServer !== true
  }

  /**
   * Returns who has verified the token, though no rule fits it.
   * @throws what an issuer threw, if its rules may fit. What the API server of one cluster has
   *   signed, that of another one has not, so its keys may be missing.
   */
  end(): readonly Verified[] {
    const isOther = this.verified.some(({ reach }) => reach.isOfApiServer) && !this.isAnyBlind
    if (this.failure !== undefined && !isOther) throw this.failure
    return this.hasRule ? [] : this.verified
  }
}

/** Tokens that no rule fits. */
export class UnruledTokens {
  private readonly known = new Map<string, readonly Verified[]>()

  /** Notes what issuers say of a token, in their order; none to forget it. */
  note(token: string, verified: readonly Verified[]): void {
    this.known.delete(token)
    if (verified.length === 0) return
    // What another request has noted just now stays.
    const [oldest] = this.known.size < TOKENS_MAX ? [] : this.known.keys()
    if (oldest !== undefined) this.known.delete(oldest)
    this.known.set(token, verified)
  }

  /** As {@link find}, while all issuers remember their checks. */
  findAtOnce(token: string): UnruledClient | undefined {
    const isChecked = this.known.get(token)?.every((one) => one.isChecked())
    return isChecked === true ? this.find(token) : undefined
  }

  /** Returns the client of a token that was noted just now. */
  find(token: string): UnruledClient | undefined {
    const all = this.known.get(token) ?? []
    const [first] = all
    if (first === undefined) return undefined
    const { subject, revocation, issuedMs } = first.client
    return { subject, revocation, issuedMs, reaches: all.map(({ reach }) => reach) }
  }

  /** Forgets all: with other issuers, a rule may fit. */
  clear(): void {
    this.known.clear()
  }
}
