/**
 * Parses the operator's request for a new token.
 * @module
 */

import { zonesOf } from '../../corefile/arguments.ts'
import { wildcardParent } from '../../corefile/wildcard-zone.ts'
import { isRecord, isTexts } from '../../dns/bytes/unknown.ts'
import { formatName, isSubdomain, parseName } from '../../dns/names/name.ts'
import type { GatewayConfig } from '../config/config.ts'
import { TOKEN_ROLES, type TokenRole } from '../config/issuers.ts'
import { matcherOf } from '../config/text-pattern.ts'
import {
  bad,
  PATTERNS_MAX,
  readScope,
  SCOPE_FIELDS,
  ScopeError,
  type TokenScope,
} from '../config/token-scope.ts'
import { HttpError } from '../doh/http-error.ts'
import { KnownClusters } from './known-clusters.ts'

/** A token request. */
type TokenRequest = {
  readonly name: string
  readonly scope: TokenScope
  readonly identities: readonly string[]
  /** Milliseconds until the token expires; `undefined` for never. */
  readonly lifeMs: number | undefined
  readonly role?: TokenRole
}

const NAME_MAX = 100
/** Certificates; email addresses, `@DOMAIN` or names of service tokens, in lower case. */
const IDENTITY = /^(?:cert:[0-9a-f]{64}|access:[!-@[-~]{1,320})$/
const LIFE_SECONDS_MAX = 10 * 366 * 24 * 3600
const FIELDS: readonly string[] = [
  'name',
  ...SCOPE_FIELDS,
  'identities',
  'expiresInSeconds',
  'role',
]

type Fields = Readonly<Record<string, unknown>>

/**
 * Parses a token request from JSON. Without `clusters`, `origins` or `namespaces` the token sees
 * all of them; without `recurse` and `explain` it may do neither.
 * @throws {HttpError} 400 that names the field
 */
export function readTokenRequest(text: string): TokenRequest {
  const fields = readObject(text)
  try {
    const unknown = Object.keys(fields).find((name) => !FIELDS.includes(name))
    if (unknown !== undefined) throw bad(unknown, `is not one of ${FIELDS.join(', ')}`)
    return {
      name: readName(fields.name),
      scope: readScope(fields),
      identities: readIdentities(fields.identities),
      lifeMs: readLife(fields.expiresInSeconds),
      ...(fields.role !== undefined && { role: readRole(fields.role) }),
    }
  } catch (error) {
    if (!(error instanceof ScopeError)) throw error
    throw new HttpError(400, 'bad_field', error.message)
  }
}

function readObject(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text)
    if (isRecord(value)) return value
  } catch {
    throw new HttpError(400, 'bad_json', 'The body is not JSON')
  }
  throw new HttpError(400, 'bad_json', 'The body is not a JSON object')
}

/** Reads the label of a token; '' without one. @throws {ScopeError} */
export function readName(value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'string' && value.length <= NAME_MAX && !/\p{Cc}/u.test(value)) return value
  throw bad('name', `is not a string of at most ${NAME_MAX} characters`)
}

function readRole(value: unknown): TokenRole {
  const role = TOKEN_ROLES.find((one) => one === value)
  if (role !== undefined) return role
  throw bad('role', `is not one of ${TOKEN_ROLES.join(', ')}`)
}

/** Reads the identities of a token, none without. @throws {ScopeError} */
export function readIdentities(value: unknown = []): readonly string[] {
  if (!isTexts(value) || value.length > PATTERNS_MAX) {
    throw bad('identities', 'is not a list of "cert:SHA256" and "access:WHO"')
  }
  const wrong = value.find((one) => !IDENTITY.test(one))
  if (wrong === undefined) return value
  const forms =
    'cert: and 64 lower-case hexadecimal digits, or access: and an email address or @DOMAIN'
  throw bad('identities', `has ${JSON.stringify(wrong.slice(0, 80))}, expected ${forms}`)
}

function readLife(value: unknown): number | undefined {
  if (value === undefined) return undefined
  const isWhole = typeof value === 'number' && Number.isInteger(value)
  if (isWhole && 1 <= value && value <= LIFE_SECONDS_MAX) return 1000 * value
  throw bad('expiresInSeconds', `is not a whole number from 1 to ${LIFE_SECONDS_MAX}`)
}

/** Warns about parts of a token request without effect, such as a misspelled cluster. */
export type TokenAdvice = (request: TokenRequest) => readonly string[]

/** Creates the advice of one configuration. */
export function createTokenAdvice(
  config: GatewayConfig,
  published: Pick<KnownClusters, 'has' | 'ids'> = new KnownClusters(config.clusters),
): TokenAdvice {
  const isUnknown = (pattern: string): boolean =>
    !published.has(pattern) &&
    !(pattern.includes('*') && published.ids().some(matcherOf([pattern])))
  const zones = servedZones(config)
  return ({ scope, identities }) => [
    ...scope.clusters
      .filter((pattern) => pattern !== '*' && isUnknown(pattern))
      .map((pattern) => `CLUSTERS has no cluster "${pattern}"`),
    // With recursion, a token may be for names of other servers.
    ...(scope.recurse ? [] : scope.origins)
      .filter((pattern) => pattern !== '*' && !zones.some((zone) => fits(pattern, zone)))
      .map((pattern) => `the Corefile serves no zone at, above or below "${pattern}"`),
    ...identities
      .filter((identity) => identity.startsWith('access:') && config.application === undefined)
      .map((identity) => `"${identity}" needs ACCESS_TEAM and ACCESS_AUDIENCE, which are not set`),
  ]
}

/** Returns the zones of clusters, and of server blocks other than the root's. */
function servedZones({ blocks }: GatewayConfig): readonly Uint8Array[] {
  return blocks.flatMap(({ keys, directives }) => {
    const ofBlock = keys.map(({ zone }) => zone)
    const ofClusters = directives
      .filter(({ name }) => name === 'kubernetes')
      .flatMap(({ args }) => zonesOf(args, ofBlock))
      .map((zone) => wildcardParent(zone) ?? zone)
    return [...ofBlock.filter((zone) => zone.length > 1), ...ofClusters]
  })
}

function fits(pattern: string, zone: Uint8Array): boolean {
  if (pattern.includes('*')) return matcherOf([pattern])(formatName(zone))
  const name = parseName(pattern)
  return name !== undefined && (isSubdomain(name, zone) || isSubdomain(zone, name))
}
