/**
 * Clients that identify themselves by a token of an issuer that the configuration names (OpenID
 * Connect, a Kubernetes API server, a CI system), or by one that the gateway gave in exchange for
 * it. Rules say what the claims of a token allow.
 * @module
 */
import { parseJson } from '../../dns/bytes/unknown.ts'
import type { ClientVisibility } from '../../resolver/contract/client.ts'
import type { Host } from '../../resolver/contract/host.ts'
import { readClusterIssuers } from '../config/cluster-issuers.ts'
import type { ExchangeKey } from '../config/exchange-key.ts'
import { type IssuerConfig, IssuersError } from '../config/issuers.ts'
import { IssuerKeys, type KeysRuntime } from '../jwt/issuer-keys.ts'
import { IssuerTokens } from '../jwt/issuer-tokens.ts'
import { type Claims, claimedIssuer } from '../jwt/jwt.ts'
import { OWN_ALGORITHM, OWN_ISSUER, signOwn } from '../jwt/own-tokens.ts'
import { type OpenRule, openRule } from './claim-rules.ts'
import { WITH_ISSUERS_MAX } from './cluster-directory.ts'
import type { KnownClusters, ListedIssuers } from './known-clusters.ts'
import { type Reach, reachOf } from './object-subjects.ts'
import type { Person } from './persons.ts'
import { ownClaimsOf, ownPrincipals, type Principals, type Refusal } from './principals.ts'
import { refusalLog } from './refusal-log.ts'
import { revocationOf, usesLabels } from './token.ts'
import { NotFound, type UnruledClient, UnruledTokens } from './unruled-tokens.ts'

/** What an issuer may call a client, so that an operator can name it to revoke it. */
const SUB = /^[^\p{Cc}]{0,255}$/u
/** Most issuers of clusters of the directory that have the same name. */
export const SAME_NAME_MAX = 32
/** Most tokens of which is remembered who verifies them. */
const FOUND_MAX = 2048

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
type Meaning = Pick<KnownSubject, 'subject' | 'revocation' | 'issuedMs'> & {
  /** The rule that fits, or its identifier: which rule that is now, the configuration says. */
  readonly rule: OpenRule | string | undefined
  /** The client's user and groups, for rules by which RBAC says what it sees. */
  readonly principals: Principals | Refusal | undefined
  /** Whether the issuer has a name for the client. */
  readonly hasName: boolean
}

/** A token with the rule that fits it now. */
type Found = {
  readonly meaning: Meaning
  readonly rule: OpenRule
  readonly principals: Principals | undefined
  readonly visibility: ClientVisibility
}

/** An issuer whose tokens count. */
type OpenIssuer = {
  readonly issuer: string
  /** Identifies its keys. */
  readonly place: string
  readonly tokens: IssuerTokens<Meaning>
  readonly rules: readonly OpenRule[]
  /** Whose objects may name its clients; `undefined` for none. */
  readonly reach: Reach | undefined
}

/** The issuers of a cluster of the directory. */
type OpenListed = { readonly from: ListedIssuers; readonly issuers: readonly OpenIssuer[] }

const NO_RULE: Refusal = { refusal: 'no rule fits its claims' }

/** A token that the gateway gives in exchange. */
export type Exchanged = { readonly token: string; readonly expiresMs: number }

/** What issuers need of the runtime. */
type IssuersRuntime = KeysRuntime & {
  readonly log: Host['log']
  /** Clusters that come and go with issuers of their own; none when left out. */
  readonly clusters?: Pick<KnownClusters, 'issuers'>
}

/** The issuers of a gateway: those of ISSUERS, then those of the directory's clusters. */
export class Issuers {
  /** Whether tokens are given in exchange. */
  readonly mayExchange: boolean
  private readonly exchangeKeys: readonly ExchangeKey[]
  private readonly runtime: IssuersRuntime
  private readonly configured: readonly OpenIssuer[]
  private readonly own: readonly OpenIssuer[]
  /** The issuers of the directory, by cluster, and what they were opened from. */
  private listed: ReadonlyMap<string, OpenListed> = new Map()
  private taken: ReadonlyMap<string, ListedIssuers> | undefined
  private all: ReadonlySet<OpenIssuer> = new Set()
  /** Several where clusters call their issuers alike. */
  private byName: ReadonlyMap<string, readonly OpenIssuer[]> = new Map()
  /** Keys by their place: an issuer is asked once for all clusters that name it. */
  private readonly keys = new Map<string, IssuerKeys>()
  private needsFacts = false
  /** What tokens are, and which issuer has verified them. */
  private readonly found = new Map<string, Found & { readonly issuer: OpenIssuer }>()
  private readonly unruled = new UnruledTokens()
  /** Rules that tokens of the gateway name. */
  private readonly rulesById = new Map<string, OpenRule>()
  private readonly refused: (issuer: string, reason: string) => void

  /** @param exchangeKeys sign what is given in exchange: the first one; all are accepted */
  constructor(
    issuers: readonly IssuerConfig[],
    exchangeKeys: readonly ExchangeKey[],
    runtime: IssuersRuntime,
  ) {
    this.exchangeKeys = exchangeKeys
    this.mayExchange = exchangeKeys.length > 0
    this.runtime = runtime
    this.refused = refusalLog(runtime)
    this.configured = issuers.map((one) => this.open(one, 0))
    this.own = this.mayExchange ? [this.openOwn()] : []
    this.index()
  }

  /** Whether what some rule allows depends on labels of namespaces, or on RBAC. */
  get usesFacts(): boolean {
    this.refresh()
    return this.needsFacts
  }

  /**
   * Finds the client that a token identifies; `undefined` when no issuer has signed it, or no rule
   * fits it.
   * @throws {Error} when the keys of its issuer cannot be read
   */
  async find(token: string): Promise<KnownSubject | undefined> {
    const found = await this.search(token)
    return found && knownOf(found)
  }

  /**
   * Finds the operator that a token identifies; `undefined` for a client, and for tokens of the
   * gateway: those are for weeks in the settings of a device.
   * @throws {Error} as {@link find}
   */
  async findPerson(token: string): Promise<(Person & KnownSubject) | undefined> {
    if (claimedIssuer(token) === OWN_ISSUER) return undefined
    const found = await this.search(token)
    if (found === undefined) this.refuseUnruled(token)
    if (found?.rule.role === undefined) return undefined
    const { role, scope, lifeMs } = found.rule
    return { ...knownOf(found), role, scope, lifeMs }
  }

  /** As {@link find}, from memory: for a token that was found within the last minute. */
  findAtOnce(token: string): KnownSubject | undefined {
    this.refresh()
    const found = this.searchAtOnce(token)
    return found && knownOf(found)
  }

  /** Returns the client of a token that no rule fits, as {@link find} has found just now. */
  findUnruled(token: string): UnruledClient | undefined {
    return this.unruled.find(token)
  }

  /** As {@link findUnruled}, for a token that was found within the last minute. */
  findUnruledAtOnce(token: string): UnruledClient | undefined {
    this.refresh()
    return this.unruled.findAtOnce(token)
  }

  /** Logs that a token without a rule is refused, as no object names its client either. */
  refuseUnruled(token: string): void {
    if (this.unruled.find(token)) this.refused(claimedIssuer(token) ?? '', NO_RULE.refusal)
  }

  /**
   * Gives a token of the gateway in exchange for one of an issuer: for clients that cannot renew
   * theirs each minute. A rule that changes or goes ends it, as does its time.
   * @param isRevoked whether a client was revoked
   * @returns `undefined` for what {@link find} does not find, a client without a name, one that was
   *   revoked, and for a token of the gateway: it cannot prolong itself; `too long` for a client
   *   with more groups than fit
   * @throws {Error} as {@link find}
   */
  async exchange(
    token: string,
    isRevoked: (known: KnownSubject) => Promise<boolean>,
  ): Promise<Exchanged | 'too long' | undefined> {
    const [key] = this.exchangeKeys
    if (key === undefined || claimedIssuer(token) === OWN_ISSUER) return undefined
    const found = await this.search(token)
    if (found === undefined || !found.meaning.hasName) return undefined
    const { meaning, rule } = found
    if (await isRevoked(knownOf(found))) return undefined
    const more = ownClaimsOf(found.principals)
    if (more === undefined) return 'too long'
    const issuedMs = this.runtime.clock.now()
    const expiresMs = issuedMs + rule.lifeMs
    const { subject } = meaning
    const own = { subject, rule: await rule.id(), more, issuedMs, expiresMs }
    return { token: await signOwn(key, own), expiresMs }
  }

  /** Takes over what changed in the directory: costs a comparison while nothing does. */
  private refresh(): void {
    const next = this.runtime.clusters?.issuers
    if (next === this.taken || next === undefined) return
    this.taken = next
    const listed = new Map<string, OpenListed>()
    for (const [cluster, from] of [...next].slice(0, WITH_ISSUERS_MAX)) {
      const before = this.listed.get(cluster)
      const isSame = before?.from.text === from.text && before.from.createdMs === from.createdMs
      listed.set(cluster, isSame ? before : { from, issuers: this.openListed(cluster, from) })
    }
    this.listed = listed
    this.index()
  }

  /** A list that another version has written, or nobody, must not stop the others. */
  private openListed(cluster: string, from: ListedIssuers): readonly OpenIssuer[] {
    try {
      const issuers = readClusterIssuers(cluster, parseJson(from.text))
      return issuers.map((one) => this.open(one, from.createdMs, cluster))
    } catch (error) {
      if (!(error instanceof IssuersError)) throw error
      const message = 'the issuers of a cluster in the directory do not count'
      this.runtime.log({ level: 'error', message, cluster, error: error.message })
      return []
    }
  }

  private index(): void {
    const byName = new Map<string, OpenIssuer[]>()
    for (const one of [...this.configured, ...this.own]) add(byName, one, Number.POSITIVE_INFINITY)
    for (const { issuers } of this.listed.values()) {
      for (const one of issuers) add(byName, one, this.configured.length + SAME_NAME_MAX)
    }
    this.byName = byName
    this.all = new Set([...byName.values()].flat())
    this.needsFacts = [...this.all].some(({ rules }) =>
      rules.some(({ scope, principalsOf }) => principalsOf !== undefined || usesLabels(scope)),
    )
    this.rulesById.clear()
    this.unruled.clear()
    for (const [token, { issuer }] of this.found)
      if (!this.all.has(issuer)) this.found.delete(token)
    const places = new Set([...this.all].map(({ place }) => place))
    for (const place of this.keys.keys()) if (!places.has(place)) this.keys.delete(place)
  }

  /**
   * @param createdMs when its cluster was added: one of the same name has other keys
   * @param listedBy its cluster; `undefined` for an issuer of ISSUERS
   */
  private open(policy: IssuerConfig, createdMs: number, listedBy?: string): OpenIssuer {
    const { issuer, keys } = policy
    const isOfCluster = keys !== 'discovery' && 'cluster' in keys
    const place = JSON.stringify([issuer, keys, isOfCluster ? createdMs : 0])
    const rules = policy.rules.map((rule) => openRule(policy, rule))
    const tokens = this.tokensOf(policy, place, (claims) => {
      const sub = claims.sub ?? ''
      const rule = SUB.test(sub) ? rules.find(({ fits }) => fits(claims)) : undefined
      const principals = rule?.principalsOf?.(claims)
      return meaningOf(rule, { claims, principals, subject: `${issuer} ${sub}` })
    })
    return { issuer, place, tokens, rules, reach: reachOf(keys, listedBy) }
  }

  private openOwn(): OpenIssuer {
    const policy = {
      issuer: OWN_ISSUER,
      audiences: [OWN_ISSUER],
      algorithms: [OWN_ALGORITHM],
      keys: { jwks: this.exchangeKeys.map(({ jwk }) => jwk) },
    }
    const tokens = this.tokensOf(policy, OWN_ISSUER, (claims) =>
      meaningOf(String(claims.rule), {
        claims,
        principals: ownPrincipals(claims),
        subject: claims.sub ?? '',
      }),
    )
    return { issuer: OWN_ISSUER, place: OWN_ISSUER, tokens, rules: [], reach: undefined }
  }

  private tokensOf(
    policy: Omit<IssuerConfig, 'rules'>,
    place: string,
    meaning: (claims: Claims) => Meaning,
  ): IssuerTokens<Meaning> {
    const onRefused = (reason: string): void => this.refused(policy.issuer, reason)
    const keys = this.keys.get(place) ?? new IssuerKeys({ ...this.runtime, ...policy })
    this.keys.set(place, keys)
    return new IssuerTokens<Meaning>({ ...this.runtime, policy, keys, onRefused, meaning })
  }

  private searchAtOnce(token: string): Found | undefined {
    const found = this.found.get(token)
    if (found === undefined || found.issuer.tokens.findAtOnce(token) !== found.meaning) {
      return undefined
    }
    const { rule: named } = found.meaning
    const isCurrent = typeof named !== 'string' || this.rulesById.get(named) === found.rule
    return isCurrent ? found : undefined
  }

  private async search(token: string): Promise<Found | undefined> {
    this.refresh()
    const known = this.searchAtOnce(token)
    if (known !== undefined) return known
    const name = claimedIssuer(token) ?? ''
    const { byName } = this
    const missing = new NotFound()
    for (const issuer of byName.get(name) ?? []) {
      try {
        const meaning = await issuer.tokens.find(token)
        const found = meaning && (await this.foundBy(meaning))
        // It may have gone meanwhile.
        if (found === undefined || !this.all.has(issuer)) continue
        if (!('refusal' in found)) {
          this.remember(token, { ...found, issuer })
          return found
        }
        const { reach, tokens } = issuer
        if (found === NO_RULE && meaning?.hasName === true && reach !== undefined) {
          const isChecked = (): boolean => tokens.findAtOnce(token) === meaning
          missing.verified.push({ client: meaning, reach, isChecked })
          continue
        }
        missing.hasRule ||= found !== NO_RULE
        this.refused(name, found.refusal)
      } catch (error) {
        missing.fail(error, issuer.reach)
      }
    }
    const verified = missing.end()
    // With issuers that came meanwhile, a rule may fit.
    if (byName === this.byName) this.unruled.note(token, verified)
    return undefined
  }

  private remember(token: string, found: Found & { readonly issuer: OpenIssuer }): void {
    if (this.found.size >= FOUND_MAX) this.found.clear()
    this.found.set(token, found)
    this.unruled.note(token, [])
  }

  private async foundBy(meaning: Meaning): Promise<Found | Refusal> {
    const rule = await this.ruleOf(meaning)
    if (rule === undefined) return NO_RULE
    const principals = rule.principalsOf && meaning.principals
    if (principals !== undefined && 'refusal' in principals) return principals
    return { meaning, rule, principals, visibility: await rule.visibilityOf(principals) }
  }

  private async ruleOf({ rule: named, subject }: Meaning): Promise<OpenRule | undefined> {
    if (typeof named !== 'string') return named
    const known = this.rulesById.get(named)
    if (known !== undefined) return known
    for (const issuer of this.all) {
      if (!subject.startsWith(`${issuer.issuer} `)) continue
      for (const rule of issuer.rules) {
        if ((await rule.id()) !== named || !this.all.has(issuer)) continue
        this.rulesById.set(named, rule)
        return rule
      }
    }
    return undefined
  }
}

/** Adds an issuer to those of its name, unless there are too many. */
function add(byName: Map<string, OpenIssuer[]>, one: OpenIssuer, countMax: number): void {
  const others = byName.get(one.issuer) ?? []
  if (others.length < countMax) byName.set(one.issuer, [...others, one])
}

function meaningOf(
  rule: OpenRule | string | undefined,
  {
    claims: { iat = 0, sub = '' },
    principals,
    subject,
  }: Pick<Meaning, 'principals' | 'subject'> & { readonly claims: Claims },
): Meaning {
  const revocation = revocationOf(subject)
  return { rule, principals, subject, revocation, issuedMs: iat * 1000, hasName: sub !== '' }
}

function knownOf({ meaning, rule: { mayExplain }, visibility }: Found): KnownSubject {
  const { subject, revocation, issuedMs } = meaning
  return { visibility, mayExplain, subject, revocation, issuedMs }
}
