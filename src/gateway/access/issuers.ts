/**
 * Clients that identify themselves by a token of an issuer that the configuration names (OpenID
 * Connect, a Kubernetes API server, a CI system). Rules say what the claims of a token allow.
 * @module
 */
import { isRecord } from '../../dns/bytes/unknown.ts'
import type { ClientVisibility } from '../../resolver/contract/client.ts'
import type { Host } from '../../resolver/contract/host.ts'
import { type ClaimPatterns, type ClaimRule, type IssuerConfig, isList } from '../config/issuers.ts'
import type { KeysRuntime } from './issuer-keys.ts'
import { IssuerTokens } from './issuer-tokens.ts'
import { type Claims, claimedIssuer } from './jwt.ts'
import { matcherOf, usesLabels, visibilityOf } from './token.ts'

/** How long an issuer's refused tokens are not logged after one was. */
const LOG_MS = 1000
/** Most characters of a subject that are kept. */
const SUBJECT_MAX = 255

/** A client that an issuer knows. */
export type KnownSubject = {
  readonly visibility: ClientVisibility
  readonly mayExplain: boolean
  /** The issuer and its name for the client, for rate limits. */
  readonly subject: string
}

/** What a token means: a client, or that no rule fits. */
type Meaning = KnownSubject | 'no rule'

/** The issuers of a gateway. */
export class Issuers {
  /** Whether what some rule allows depends on the labels of namespaces. */
  readonly usesLabels: boolean
  /** Several where clusters call their issuers alike. */
  private readonly byIssuer = new Map<string, IssuerTokens<Meaning>[]>()
  private readonly refused: (issuer: string, reason: string) => void

  constructor(
    issuers: readonly IssuerConfig[],
    runtime: KeysRuntime & { readonly log: Host['log'] },
  ) {
    this.refused = refusalLog(runtime)
    this.usesLabels = issuers.some(({ rules }) => rules.some(({ scope }) => usesLabels(scope)))
    for (const policy of issuers) {
      const rules = policy.rules.map(openRule)
      const tokens = new IssuerTokens<Meaning>({
        ...runtime,
        policy,
        onRefused: (reason) => this.refused(policy.issuer, reason),
        meaning: (claims) => {
          const rule = rules.find(({ fits }) => fits(claims))
          if (rule === undefined) return 'no rule'
          const subject = `${policy.issuer} ${(claims.sub ?? '').slice(0, SUBJECT_MAX)}`
          return { ...rule.grant, subject }
        },
      })
      this.byIssuer.set(policy.issuer, [...(this.byIssuer.get(policy.issuer) ?? []), tokens])
    }
  }

  /**
   * Finds the client that a token identifies; `undefined` when no issuer has signed it, or no rule
   * fits it.
   * @throws {Error} when the keys of its issuer cannot be read
   */
  async find(token: string): Promise<KnownSubject | undefined> {
    if (this.byIssuer.size === 0) return undefined
    const issuer = claimedIssuer(token) ?? ''
    let failure: unknown
    for (const tokens of this.byIssuer.get(issuer) ?? []) {
      try {
        const found = await tokens.find(token)
        if (found === 'no rule') this.refused(issuer, 'no rule fits its claims')
        else if (found !== undefined) return found
      } catch (error) {
        failure = error
      }
    }
    if (failure !== undefined) throw failure
    return undefined
  }

  /** As {@link find}, from memory: for a token that was found within the last minute. */
  findAtOnce(token: string): KnownSubject | undefined {
    for (const tokens of [...this.byIssuer.values()].flat()) {
      const found = tokens.findAtOnce(token)
      if (found !== undefined) return found === 'no rule' ? undefined : found
    }
    return undefined
  }
}

/** Whoever sends wrong tokens shall not fill the log. */
function refusalLog({
  log,
  clock,
}: Pick<KeysRuntime, 'clock'> & { readonly log: Host['log'] }): (
  issuer: string,
  reason: string,
) => void {
  let loggedMs = Number.NEGATIVE_INFINITY
  return (issuer, reason) => {
    if (clock.elapsed() - loggedMs < LOG_MS) return
    loggedMs = clock.elapsed()
    log({ level: 'warning', message: 'a token of an issuer is refused', issuer, reason })
  }
}

function openRule({ when, scope }: ClaimRule): {
  readonly fits: (claims: Claims) => boolean
  readonly grant: Omit<KnownSubject, 'subject'>
} {
  const visibility = visibilityOf(scope)
  return { fits: matcher(when), grant: { visibility, mayExplain: scope.explain === true } }
}

/** Returns a function that tests whether claims, or an object in them, have all patterns. */
function matcher(when: ClaimPatterns): (claims: unknown) => boolean {
  const tests = Object.entries(when).map(([claim, patterns]) => {
    const fits = isList(patterns) ? valueMatcher(patterns) : matcher(patterns)
    return (claims: Readonly<Record<string, unknown>>) =>
      Object.hasOwn(claims, claim) && fits(claims[claim])
  })
  return (claims) => isRecord(claims) && tests.every((test) => test(claims))
}

/** A claim with a list fits when one of its values does. */
function valueMatcher(patterns: readonly string[]): (value: unknown) => boolean {
  const fits = matcherOf(patterns)
  const fitsOne = (value: unknown): boolean => {
    if (typeof value === 'string') return fits(value)
    return (typeof value === 'number' || typeof value === 'boolean') && fits(String(value))
  }
  return (value) => (Array.isArray(value) ? value.some(fitsOne) : fitsOne(value))
}
