/**
 * Clients that identify themselves by a token of an issuer that the configuration names (OpenID
 * Connect, a Kubernetes API server, a CI system), or by one that the gateway gave in exchange for
 * it. Rules say what the claims of a token allow.
 * @module
 */
import type { ClientVisibility } from '../../resolver/contract/client.ts'
import type { Host } from '../../resolver/contract/host.ts'
import type { MaybePromise } from '../../resolver/contract/maybe-promise.ts'
import type { ExchangeKey } from '../config/exchange-key.ts'
import type { IssuerConfig } from '../config/issuers.ts'
import { type OpenRule, openRule } from './claim-rules.ts'
import type { KeysRuntime } from './issuer-keys.ts'
import { IssuerTokens } from './issuer-tokens.ts'
import { type Claims, claimedIssuer } from './jwt.ts'
import { OWN_ALGORITHM, OWN_ISSUER, signOwn } from './own-tokens.ts'
import type { Person } from './persons.ts'
import { ownClaimsOf, ownPrincipals, type Principals, type Refusal } from './principals.ts'
import { revocationOf, usesLabels } from './token.ts'

/** How long an issuer's refused tokens are not logged after one was. */
const LOG_MS = 1000
/** What an issuer may call a client, so that an operator can name it to revoke it. */
const SUB = /^[^\p{Cc}]{0,255}$/u

/** A client that an issuer knows. */
export type KnownSubject = {
  readonly visibility: ClientVisibility
  readonly mayExplain: boolean
  /** The issuer and its name for the client, `ISSUER SUB`. */
  readonly subject: string
  /** The identity of the record that revokes the client. */
  readonly revocation: string
  /** When the token was issued, in milliseconds since 1970; 0 when it does not say so. */
  readonly issuedMs: number
}

/** What a token means. */
type Meaning = {
  readonly known: KnownSubject
  readonly rule: OpenRule
  /** The client's user and groups, if RBAC says what it sees. */
  readonly principals: Principals | undefined
  /** Whether the issuer has a name for the client. */
  readonly hasName: boolean
}

/** A token that the gateway gives in exchange. */
export type Exchanged = { readonly token: string; readonly expiresMs: number }

const NO_RULE: Refusal = { refusal: 'no rule fits its claims' }

/** The issuers of a gateway. */
export class Issuers {
  /** Whether what some rule allows depends on the labels of namespaces. */
  readonly usesLabels: boolean
  /** Whether tokens are given in exchange. */
  readonly mayExchange: boolean
  private readonly exchangeKeys: readonly ExchangeKey[]
  private readonly clock: KeysRuntime['clock']
  private readonly rules: OpenRule[] = []
  private readonly all: IssuerTokens<Meaning | Refusal>[] = []
  /** Several where clusters call their issuers alike. */
  private readonly byIssuer = new Map<string, IssuerTokens<Meaning | Refusal>[]>()
  private readonly refused: (issuer: string, reason: string) => void

  /** @param exchangeKeys sign what is given in exchange: the first one; all are accepted */
  constructor(
    issuers: readonly IssuerConfig[],
    exchangeKeys: readonly ExchangeKey[],
    runtime: KeysRuntime & { readonly log: Host['log'] },
  ) {
    this.exchangeKeys = exchangeKeys
    this.mayExchange = exchangeKeys.length > 0
    this.clock = runtime.clock
    this.refused = refusalLog(runtime)
    this.usesLabels = issuers.some(({ rules }) => rules.some(({ scope }) => usesLabels(scope)))
    for (const policy of issuers) {
      const rules = policy.rules.map((rule) => openRule(policy, rule))
      this.rules.push(...rules)
      this.add(runtime, policy, (claims) => {
        const rule = rules.find(({ fits }) => fits(claims))
        const sub = claims.sub ?? ''
        if (rule === undefined || !SUB.test(sub)) return NO_RULE
        const principals = rule.principalsOf?.(claims)
        return meaningOf(rule, { claims, principals, subject: `${policy.issuer} ${sub}` })
      })
    }
    if (!this.mayExchange) return
    const own = { issuer: OWN_ISSUER, audiences: [OWN_ISSUER], algorithms: [OWN_ALGORITHM] }
    const keys = { jwks: exchangeKeys.map(({ jwk }) => jwk) }
    this.add(runtime, { ...own, keys }, async (claims) => {
      const rule = await this.ruleOf(claims.rule)
      if (rule === undefined) return NO_RULE
      const principals = rule.principalsOf && ownPrincipals(claims)
      return meaningOf(rule, { claims, principals, subject: claims.sub ?? '' })
    })
  }

  /**
   * Finds the client that a token identifies; `undefined` when no issuer has signed it, or no rule
   * fits it.
   * @throws {Error} when the keys of its issuer cannot be read
   */
  async find(token: string): Promise<KnownSubject | undefined> {
    return (await this.meaningOf(token))?.known
  }

  /**
   * Finds the operator that a token identifies; `undefined` for a client, and for tokens of the
   * gateway: those are for weeks in the settings of a device.
   * @throws {Error} as {@link find}
   */
  async findPerson(token: string): Promise<(Person & KnownSubject) | undefined> {
    if (claimedIssuer(token) === OWN_ISSUER) return undefined
    const { known, rule: { role, scope, lifeMs } = { role: undefined } } =
      (await this.meaningOf(token)) ?? {}
    return known && role && { ...known, role, scope, lifeMs }
  }

  /** As {@link find}, from memory: for a token that was found within the last minute. */
  findAtOnce(token: string): KnownSubject | undefined {
    for (const tokens of this.all) {
      const found = tokens.findAtOnce(token)
      if (found !== undefined) return 'refusal' in found ? undefined : found.known
    }
    return undefined
  }

  /**
   * Gives a token of the gateway in exchange for one of an issuer: for clients that cannot renew
   * theirs each minute. A rule that changes or goes ends it, as does its time.
   * @param isRevoked whether a client was revoked
   * @returns `undefined` for what {@link find} does not find, a client without a name, one that was
   *   revoked, and for a token of the gateway: it cannot prolong itself
   *   `too long` for a client with more groups than fit
   * @throws {Error} as {@link find}
   */
  async exchange(
    token: string,
    isRevoked: (known: KnownSubject) => Promise<boolean>,
  ): Promise<Exchanged | 'too long' | undefined> {
    const [key] = this.exchangeKeys
    if (key === undefined || claimedIssuer(token) === OWN_ISSUER) return undefined
    const meaning = await this.meaningOf(token)
    if (meaning === undefined || !meaning.hasName) return undefined
    const { known, rule } = meaning
    if (await isRevoked(known)) return undefined
    const more = ownClaimsOf(meaning.principals)
    if (more === undefined) return 'too long'
    const issuedMs = this.clock.now()
    const expiresMs = issuedMs + rule.lifeMs
    const { subject } = known
    const own = { subject, rule: await rule.id(), more, issuedMs, expiresMs }
    return { token: await signOwn(key, own), expiresMs }
  }

  private add(
    runtime: KeysRuntime,
    policy: Omit<IssuerConfig, 'rules'>,
    meaning: (claims: Claims) => MaybePromise<Meaning | Refusal>,
  ): void {
    const onRefused = (reason: string): void => this.refused(policy.issuer, reason)
    const tokens = new IssuerTokens<Meaning | Refusal>({ ...runtime, policy, onRefused, meaning })
    this.all.push(tokens)
    this.byIssuer.set(policy.issuer, [...(this.byIssuer.get(policy.issuer) ?? []), tokens])
  }

  private async meaningOf(token: string): Promise<Meaning | undefined> {
    if (this.all.length === 0) return undefined
    const issuer = claimedIssuer(token) ?? ''
    let failure: unknown
    for (const tokens of this.byIssuer.get(issuer) ?? []) {
      try {
        const found = await tokens.find(token)
        if (found === undefined) continue
        if (!('refusal' in found)) return found
        this.refused(issuer, found.refusal)
      } catch (error) {
        failure = error
      }
    }
    if (failure !== undefined) throw failure
    return undefined
  }

  private async ruleOf(id: unknown): Promise<OpenRule | undefined> {
    for (const rule of this.rules) if ((await rule.id()) === id) return rule
    return undefined
  }
}

async function meaningOf(
  rule: OpenRule,
  {
    claims: { iat = 0, sub = '' },
    principals,
    subject,
  }: {
    readonly claims: Claims
    readonly principals: Principals | Refusal | undefined
    readonly subject: string
  },
): Promise<Meaning | Refusal> {
  if (principals !== undefined && 'refusal' in principals) return principals
  const visibility = await rule.visibilityOf(principals)
  const { mayExplain } = rule
  const revocation = revocationOf(subject)
  const known = { visibility, mayExplain, subject, revocation, issuedMs: iat * 1000 }
  return { rule, known, principals, hasName: sub !== '' }
}

/** Clients that send wrong tokens must not fill the log. */
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
