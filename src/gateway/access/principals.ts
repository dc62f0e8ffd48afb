/**
 * The Kubernetes user and groups that a token's claims stand for, as the API server names them, and
 * what RBAC shows to them.
 * @module
 */
import { isTexts } from '../../dns/bytes/unknown.ts'
import type { ClientVisibility } from '../../resolver/contract/client.ts'
import { principalKey, type RightsTable } from '../../snapshot/format/rights-table.ts'
import { Visibility } from '../../snapshot/read/visibility.ts'
import type { MappedClaim, PrincipalClaims } from '../config/issuers.ts'
import type { TokenScope } from '../config/token-scope.ts'
import { visibilityOf } from './token.ts'

/** A user and the groups that the issuer says it is in; a ServiceAccount's follow from its name. */
export type Principals = { readonly user: string; readonly groups: readonly string[] }

/** Why a token does not count. */
export type Refusal = { readonly refusal: string }

type Claims = Readonly<Record<string, unknown>>

/** Longest name of a user, in characters. */
const USER_MAX = 512
/** Most groups, and most characters of all of them. */
const GROUPS_MAX = 128
const GROUPS_CHARS_MAX = 4096
/** Most bytes of user and groups in a token that the gateway signs: paths of URLs have it. */
const OWN_BYTES_MAX = 1024
/** Only the API server gives such names. */
const RESERVED = 'system:'
const SERVICE_ACCOUNT = /^system:serviceaccount:([a-z0-9-]{1,63}):[a-z0-9.-]{1,253}$/

/**
 * Returns the user and groups in the claims of an issuer's token, or why it does not count: more
 * than the bounds allow is refused, never left out.
 */
export function principalsOf(claims: Claims, from: PrincipalClaims): Principals | Refusal {
  if (from === 'service-accounts') {
    const { sub } = claims
    if (typeof sub === 'string' && SERVICE_ACCOUNT.test(sub)) return { user: sub, groups: [] }
    return { refusal: 'its "sub" is no ServiceAccount' }
  }
  const { username, groups } = from
  const user = claimOf(claims, username)
  if (typeof user !== 'string' || user === '') {
    return { refusal: `its claim "${username.claim}" has no name of a user` }
  }
  // As the API server does (OpenID Connect Core 1.0 §5.1).
  const isUnverified = 'email_verified' in claims && claims.email_verified !== true
  if (username.claim === 'email' && isUnverified) return { refusal: 'its email is not verified' }
  const listed = groups === undefined ? [] : (claimOf(claims, groups) ?? [])
  const names = typeof listed === 'string' ? [listed] : listed
  if (!isTexts(names)) return { refusal: `its claim "${groups?.claim}" is no list of groups` }
  const found = {
    user: username.prefix + user,
    groups: [...new Set(names)].map((name) => (groups?.prefix ?? '') + name),
  }
  const refusal = findRefusal(found)
  return refusal === undefined ? found : { refusal }
}

function claimOf(claims: Claims, { claim }: MappedClaim): unknown {
  return Object.hasOwn(claims, claim) ? claims[claim] : undefined
}

function findRefusal({ user, groups }: Principals): string | undefined {
  if (user.length > USER_MAX) return `its user has over ${USER_MAX} characters`
  if (groups.length > GROUPS_MAX) return `it has over ${GROUPS_MAX} groups`
  if (groups.join('').length > GROUPS_CHARS_MAX) {
    return `its groups have over ${GROUPS_CHARS_MAX} characters`
  }
  const reserved = [user, ...groups].find((name) => name.startsWith(RESERVED))
  return reserved && `"${reserved.slice(0, 40)}" is a name that only the API server gives`
}

/** Returns the claims of a token of the gateway for a user and groups; `undefined` if too many. */
export function ownClaimsOf(principals: Principals | undefined): Claims | undefined {
  if (principals === undefined) return {}
  const { user, groups } = principals
  const claims = { user, ...(groups.length > 0 && { groups }) }
  const { length } = new TextEncoder().encode(JSON.stringify(claims))
  return length > OWN_BYTES_MAX ? undefined : claims
}

/** Returns the user and groups in the claims of a token that the gateway has signed. */
export function ownPrincipals({ user, groups = [] }: Claims): Principals | Refusal {
  return typeof user === 'string' && isTexts(groups)
    ? { user, groups }
    : { refusal: 'it has no user and groups' }
}

/**
 * Returns the visibility of a user with groups: of the namespaces, those that the rights of their
 * cluster show to one of them.
 */
export async function visibilityByRights(
  scope: TokenScope,
  { user, groups }: Principals,
): Promise<ClientVisibility> {
  const keys = await Promise.all([
    principalKey('user', user),
    ...[...groups, ...impliedGroups(user)].map((group) => principalKey('group', group)),
  ])
  const known = new WeakMap<RightsTable, ReadonlySet<string> | 'all'>()
  const seenIn = (rights: RightsTable): ReadonlySet<string> | 'all' => {
    const seen = known.get(rights) ?? rights.namespacesOf(keys)
    known.set(rights, seen)
    return seen
  }
  const sees = (namespace: string, rights: RightsTable | undefined): boolean => {
    const seen = rights && seenIn(rights)
    return seen !== undefined && (seen === 'all' || seen.has(namespace))
  }
  return {
    ...visibilityOf(scope),
    id: idByRights(scope, { user, groups }),
    namespaces: new Visibility((namespace, facts) => sees(namespace, facts?.rights)),
  }
}

/** Returns the `id` of the visibility of a user with groups. */
export function idByRights(scope: TokenScope, { user, groups }: Principals): string {
  return JSON.stringify({ ...scope, namespaces: 'rbac', user, groups })
}

/** Returns the groups that the API server adds for each client that it knows. */
function impliedGroups(user: string): readonly string[] {
  const [, namespace] = SERVICE_ACCOUNT.exec(user) ?? []
  const all = ['system:authenticated']
  if (namespace === undefined) return all
  return [...all, 'system:serviceaccounts', `system:serviceaccounts:${namespace}`]
}
