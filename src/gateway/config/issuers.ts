/**
 * Reads `ISSUERS`: whose signed tokens count, and which claims allow what.
 * @module
 */
import { isRecord, isTexts, parseJson } from '../../dns/bytes/unknown.ts'
import { CLUSTER_ID } from '../../snapshot/format/manifest.ts'
import { matcherOf } from './text-pattern.ts'
import { readScope, SCOPE_FIELDS, ScopeError, type TokenScope } from './token-scope.ts'

/** Patterns of claims: for each name patterns of its value, or the same for an object in it. */
export type ClaimPatterns = { readonly [claim: string]: readonly string[] | ClaimPatterns }

/** What an operator may do below `/v1`; each may query what its rule says, as others may. */
const ROLES = ['viewer', 'issuer', 'operator', 'administrator'] as const

/**
 * `viewer` reads metrics and states and has any name explained, `issuer` manages tokens within its
 * own scope, `operator` pins generations of its clusters, `administrator` does all.
 */
export type Role = (typeof ROLES)[number]

/** A role that a token of an administrator may give: the others are for persons. */
export type TokenRole = Exclude<Role, 'administrator'>

/** Roles that a token may give. */
export const TOKEN_ROLES: readonly TokenRole[] = ['viewer', 'issuer', 'operator']

/** What the holders of some tokens may see and do. */
export type ClaimRule = {
  readonly when: ClaimPatterns
  readonly scope: TokenScope
  /** How long a token counts that the gateway gives in exchange, in milliseconds. */
  readonly lifeMs: number
  /** Absent for clients, who only query. */
  readonly role?: Role
  /** Whether RBAC says what its clients see; `scope` then has no namespace. */
  readonly isRbac?: true
}

/** A claim with a name, and what the API server puts before it. */
export type MappedClaim = { readonly claim: string; readonly prefix: string }

/** Where the claims have the user and the groups that RBAC knows. */
export type PrincipalClaims =
  | 'service-accounts'
  | { readonly username: MappedClaim; readonly groups?: MappedClaim }

/** Where the keys of an issuer are. */
export type KeysPlace =
  /** Where its discovery document says. */
  | 'discovery'
  /** At a URL. */
  | { readonly url: string }
  /** In the manifest of a cluster, for the tokens of its ServiceAccounts. */
  | { readonly cluster: string }
  /** Here. */
  | { readonly jwks: readonly unknown[] }

/** The public OAuth client by which people log in at an issuer. */
export type LoginClient = {
  readonly id: string
  /** Scopes to ask for, with spaces between them; `openid` is one. */
  readonly scopes: string
}

/** An issuer of tokens. */
export type IssuerConfig = {
  /** The `iss` of its tokens, a URL. */
  readonly issuer: string
  readonly audiences: readonly string[]
  /** Asymmetric algorithms (RFC 7518 §3.1). */
  readonly algorithms: readonly string[]
  readonly keys: KeysPlace
  /** Absent where nobody logs in, as at a CI system. */
  readonly client?: LoginClient
  /** Absent where no rule follows RBAC. */
  readonly principals?: PrincipalClaims
  /** The first one that fits a token counts; without one, ClientTokens name its clients. */
  readonly rules: readonly ClaimRule[]
}

/** `ISSUERS` is not as it should be; the message names the place. */
export class IssuersError extends Error {
  override readonly name = 'IssuersError'
}

const CHARS_MAX = 256 * 1024
const ISSUERS_MAX = 32
const RULES_MAX = 256
/** Most values, or claims, in a list. */
const LIST_MAX = 64
/** Longest audience, claim or pattern. */
const TEXT_MAX = 512
/** Objects in objects of `when`. */
const DEPTH_MAX = 4
const ALGORITHMS: ReadonlySet<string> = new Set(
  'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA'.split(' '),
)
const ALGORITHMS_DEFAULT: readonly string[] = ['RS256', 'ES256']
/** Before the identifier of a cluster in `keys`. */
const CLUSTER = 'cluster:'
const FIELDS = ['issuer', 'audiences', 'algorithms', 'keys', 'client', 'kubernetes', 'rules']
const KUBERNETES_FIELDS = ['username', 'groups']
const MAPPED_FIELDS = ['claim', 'prefix']
/** In the place of a list of namespaces: those that RBAC shows. */
const RBAC = 'rbac'
const CLIENT_FIELDS = ['id', 'scopes']
/** Identifiers of clients (RFC 6749 §A.1): printable characters. */
const CLIENT_ID = /^[ -~]+$/
/** Scopes (RFC 6749 §3.3). */
const SCOPES = /^[!#-[\]-~]+(?: [!#-[\]-~]+)*$/
const SCOPES_DEFAULT = 'openid'
const RULE_FIELDS = ['when', 'expires', 'role', ...SCOPE_FIELDS]
/** Milliseconds of the units of `expires`. */
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }
const LIFE_DEFAULT = '24h'
/** Longest time that a token counts which was given in exchange. */
export const LIFE_MS_MAX: number = 90 * 86_400_000

type Fields = Readonly<Record<string, unknown>>

/** Reads a list of issuers from JSON; none from empty text. @throws {IssuersError} */
export function readIssuers(text: string): readonly IssuerConfig[] {
  if (text.trim() === '') return []
  if (text.length > CHARS_MAX) throw new IssuersError(`ISSUERS is over ${CHARS_MAX} characters`)
  return readIssuerList(parseJson(text), 'ISSUERS', ISSUERS_MAX)
}

/**
 * Reads a list of issuers.
 * @param place where it is, for messages
 * @param issuersMax most issuers in it
 * @throws {IssuersError}
 */
export function readIssuerList(
  value: unknown,
  place: string,
  issuersMax: number,
): readonly IssuerConfig[] {
  if (!Array.isArray(value)) throw new IssuersError(`${place} is not a JSON list`)
  if (value.length > issuersMax) throw new IssuersError(`${place} has over ${issuersMax} issuers`)
  const issuers = value.map((one: unknown, i) => readIssuer(one, `${place}[${i}]`))
  // Many clusters call their issuer alike, each with keys of its own.
  const names = issuers.map(({ issuer, keys }) => JSON.stringify([issuer, keys]))
  const twice = issuers.find((_, i) => names.indexOf(names[i] ?? '') < i)
  if (twice !== undefined) throw new IssuersError(`${place} has "${twice.issuer}" twice`)
  return issuers
}

function readIssuer(value: unknown, place: string): IssuerConfig {
  const fields = fieldsOf(value, place, FIELDS)
  const issuer = readUrl(fields.issuer, `${place}.issuer`)
  const algorithms = readTexts(fields.algorithms ?? ALGORITHMS_DEFAULT, `${place}.algorithms`)
  const wrong = algorithms.find((name) => !ALGORITHMS.has(name))
  if (wrong !== undefined) {
    const names = [...ALGORITHMS].join(', ')
    throw new IssuersError(`${place}.algorithms has "${wrong}", which is not one of ${names}`)
  }
  const audiences = readTexts(fields.audiences, `${place}.audiences`)
  const keys = readKeys(fields.keys, `${place}.keys`)
  const principals = readPrincipals(fields.kubernetes, {
    issuer,
    keys,
    place: `${place}.kubernetes`,
  })
  const rules = readRules(fields.rules, `${place}.rules`, issuer)
  for (const [i, rule] of rules.entries()) {
    if (rule.isRbac === true) checkRbac(rule, { keys, principals, place: `${place}.rules[${i}]` })
  }
  return {
    issuer,
    audiences,
    algorithms,
    keys,
    ...(fields.client !== undefined && { client: readClient(fields.client, `${place}.client`) }),
    ...(principals && { principals }),
    rules,
  }
}

/** Reads what an API server's `--oidc-*` flags or its AuthenticationConfiguration say. */
function readPrincipals(
  value: unknown,
  { issuer, keys, place }: { issuer: string; keys: KeysPlace; place: string },
): PrincipalClaims | undefined {
  const isCluster = typeof keys === 'object' && 'cluster' in keys
  if (value === undefined) return isCluster ? 'service-accounts' : undefined
  if (isCluster) throw new IssuersError(`${place} is not for ServiceAccounts, which have a name`)
  const { username = {}, groups } = fieldsOf(value, place, KUBERNETES_FIELDS)
  const { claim = 'sub', prefix } = fieldsOf(username, `${place}.username`, MAPPED_FIELDS)
  const ofUser = prefix ?? (claim === 'email' ? '' : `${issuer}#`)
  return {
    username: readMapped({ claim, prefix: ofUser }, `${place}.username`),
    ...(groups !== undefined && { groups: readMapped(groups, `${place}.groups`) }),
  }
}

function readMapped(value: unknown, place: string): MappedClaim {
  const { claim, prefix = '' } = fieldsOf(value, place, MAPPED_FIELDS)
  if (typeof claim !== 'string' || claim === '' || claim.length > TEXT_MAX) {
    throw new IssuersError(`${place}.claim is not the name of a claim`)
  }
  if (prefix === '-') throw new IssuersError(`${place}.prefix is "-"; "" is no prefix`)
  if (typeof prefix === 'string' && prefix.length <= TEXT_MAX) return { claim, prefix }
  throw new IssuersError(`${place}.prefix is not a text of up to ${TEXT_MAX} characters`)
}

/** A user of one cluster, or of its issuer, is no user of another one. */
function checkRbac(
  { scope: { clusters }, role }: ClaimRule,
  { keys, principals, place }: { keys: KeysPlace; principals: unknown; place: string },
): void {
  if (principals === undefined) {
    throw new IssuersError(`${place} has "${RBAC}", which needs "kubernetes" of its issuer`)
  }
  if (role === 'issuer') {
    throw new IssuersError(`${place} has "${RBAC}", with which the role "issuer" has none to give`)
  }
  const own = typeof keys === 'object' && 'cluster' in keys ? keys.cluster : undefined
  if (own === undefined || (clusters.length === 1 && clusters[0] === own)) return
  throw new IssuersError(
    `${place}.clusters is not ["${own}"], whose RBAC knows the ServiceAccounts`,
  )
}

function readClient(value: unknown, place: string): LoginClient {
  const { id, scopes = SCOPES_DEFAULT } = fieldsOf(value, place, CLIENT_FIELDS)
  if (typeof id !== 'string' || !CLIENT_ID.test(id) || id.length > TEXT_MAX) {
    throw new IssuersError(`${place}.id is not a text of 1 to ${TEXT_MAX} printable characters`)
  }
  const isList = typeof scopes === 'string' && SCOPES.test(scopes) && scopes.length <= TEXT_MAX
  // Without it, an issuer gives no ID token.
  if (isList && scopes.split(' ').includes('openid')) return { id, scopes }
  throw new IssuersError(`${place}.scopes is not a text such as "openid email", with openid in it`)
}

function readKeys(value: unknown, place: string): KeysPlace {
  if (value === undefined) return 'discovery'
  const cluster =
    typeof value === 'string' && value.startsWith(CLUSTER) && value.slice(CLUSTER.length)
  if (cluster === false) return { url: readUrl(value, place) }
  if (CLUSTER_ID.test(cluster)) return { cluster }
  throw new IssuersError(`${place} has "${cluster.slice(0, 40)}", which no cluster is called`)
}

/** HTTP is for an issuer on the same machine only: who can change its keys can issue tokens. */
function readUrl(value: unknown, place: string): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  const isLocal = url !== undefined && LOOPBACK.has(url.hostname)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal)
  const isPlain =
    url?.username === '' && url.password === '' && url.hash === '' && url.search === ''
  if (typeof value === 'string' && isSafe && isPlain && value.length <= TEXT_MAX) return value
  throw new IssuersError(`${place} is not an https:// URL`)
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

function readRules(value: unknown, place: string, issuer: string): readonly ClaimRule[] {
  // Without a rule, only ClientTokens name clients of the issuer.
  if (!Array.isArray(value) || value.length > RULES_MAX) {
    throw new IssuersError(`${place} is not a list of up to ${RULES_MAX} rules`)
  }
  const rules = value.map((one: unknown, i) => readRule(one, `${place}[${i}]`))
  for (const [i, rule] of rules.entries()) {
    const { iss = [issuer] } = rule.when
    if (!isList(iss) || !matcherOf(iss)(issuer)) {
      throw new IssuersError(`${place}[${i}] never counts: its "iss" is not that of its issuer`)
    }
    const earlier = rules.slice(0, i).findIndex((one) => covers(one.when, rule.when))
    if (earlier < 0) continue
    throw new IssuersError(`${place}[${i}] never counts: ${place}[${earlier}] fits before it`)
  }
  return rules
}

function readRule(value: unknown, place: string): ClaimRule {
  const fields = fieldsOf(value, place, RULE_FIELDS)
  if (fields.namespaces === undefined) {
    throw new IssuersError(`${place}.namespaces is missing; ["*"] is all`)
  }
  const isRbac = fields.namespaces === RBAC
  if (isRbac && fields.clusters === undefined) {
    throw new IssuersError(
      `${place}.clusters is missing: "${RBAC}" needs those that know the users`,
    )
  }
  try {
    return {
      when: readPatterns(fields.when, `${place}.when`, DEPTH_MAX),
      scope: isRbac
        ? { ...readScope({ ...fields, namespaces: ['*'] }), namespaces: [] }
        : readScope(fields),
      ...(isRbac && { isRbac }),
      lifeMs: readLife(fields.expires ?? LIFE_DEFAULT, `${place}.expires`),
      ...(fields.role !== undefined && { role: readRole(fields.role, `${place}.role`) }),
    }
  } catch (error) {
    if (!(error instanceof ScopeError)) throw error
    throw new IssuersError(`${place}: ${error.message}`, { cause: error })
  }
}

function readRole(value: unknown, place: string): Role {
  const role = ROLES.find((one) => one === value)
  if (role !== undefined) return role
  throw new IssuersError(`${place} is not one of ${ROLES.join(', ')}`)
}

function readLife(value: unknown, place: string): number {
  const [, count = '', unit = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(String(value)) ?? []
  const lifeMs = Number(count) * (UNITS[unit] ?? 0)
  if (lifeMs > 0 && lifeMs <= LIFE_MS_MAX) return lifeMs
  throw new IssuersError(`${place} is not a time such as 15m, 12h or 90d, which is the longest`)
}

function readPatterns(value: unknown, place: string, depth: number): ClaimPatterns {
  const entries = isRecord(value) && !Array.isArray(value) ? Object.entries(value) : []
  if (entries.length === 0 || entries.length > LIST_MAX) {
    throw new IssuersError(`${place} is not an object with 1 to ${LIST_MAX} claims`)
  }
  return Object.fromEntries(
    entries.map(([claim, one]) => {
      const at = `${place}.${claim.slice(0, 40)}`
      if (!isRecord(one) || Array.isArray(one)) {
        return [claim, readTexts(typeof one === 'string' ? [one] : one, at)] as const
      }
      if (depth === 1) throw new IssuersError(`${at} is over ${DEPTH_MAX} objects deep`)
      return [claim, readPatterns(one, at, depth - 1)] as const
    }),
  )
}

function readTexts(value: unknown, place: string): readonly string[] {
  const isList = isTexts(value) && value.length > 0 && value.length <= LIST_MAX
  if (isList && value.every((text) => text !== '' && text.length <= TEXT_MAX)) return value
  throw new IssuersError(`${place} is not a list of 1 to ${LIST_MAX} texts`)
}

function fieldsOf(value: unknown, place: string, known: readonly string[]): Fields {
  if (!isRecord(value)) throw new IssuersError(`${place} is not an object`)
  const unknown = Object.keys(value).find((name) => !known.includes(name))
  if (unknown === undefined) return value
  const name = unknown.slice(0, 40)
  throw new IssuersError(`${place} has "${name}", which is not one of ${known.join(', ')}`)
}

/** Returns whether each token that fits `later` fits `first`, as far as their texts show. */
function covers(first: ClaimPatterns, later: ClaimPatterns): boolean {
  return Object.entries(first).every(([claim, patterns]) => {
    const { [claim]: others } = later
    if (others === undefined) return false
    if (!isList(patterns)) return !isList(others) && covers(patterns, others)
    if (!isList(others)) return false
    // Only a `*` fits a `*`, so what fits a pattern as a text fits all that this pattern fits.
    return others.every(matcherOf(patterns))
  })
}

/** Returns whether what a claim must be is a list of patterns. */
export function isList(patterns: ClaimPatterns[string]): patterns is readonly string[] {
  return Array.isArray(patterns)
}
