/**
 * Rules from the claims of a token to what its holder may see.
 * @module
 */
import { isRecord } from '../../dns/bytes/unknown.ts'
import type { ClientVisibility } from '../../resolver/contract/client.ts'
import { sha256Hex } from '../../snapshot/format/signature.ts'
import {
  type ClaimPatterns,
  type ClaimRule,
  type IssuerConfig,
  isList,
  type Role,
} from '../config/issuers.ts'
import type { TokenScope } from '../config/token-scope.ts'
import {
  idByRights,
  type Principals,
  principalsOf,
  type Refusal,
  visibilityByRights,
} from './principals.ts'
import { matcherOf, visibilityOf } from './token.ts'

/** Hexadecimal digits of a rule's identifier. */
const ID_DIGITS = 24
/** Most visibilities of users that a rule remembers. */
const VISIBILITIES_MAX = 1024

/** A rule of one issuer. */
export type OpenRule = {
  /** Returns whether the claims of a token have all patterns. */
  readonly fits: (claims: unknown) => boolean
  /**
   * Returns the user and groups of a token, by which RBAC says what its client sees; absent if the
   * rule itself does.
   */
  readonly principalsOf?: (claims: Readonly<Record<string, unknown>>) => Principals | Refusal
  readonly visibilityOf: (principals: Principals | undefined) => Promise<ClientVisibility>
  readonly mayExplain: boolean
  readonly scope: TokenScope
  /** How long a token counts that is given in exchange. */
  readonly lifeMs: number
  readonly role: Role | undefined
  /** Identifies the rule; another one has another text. */
  readonly id: () => Promise<string>
}

/** Opens a rule of an issuer. */
export function openRule(
  { issuer, principals: from }: Pick<IssuerConfig, 'issuer' | 'principals'>,
  rule: ClaimRule,
): OpenRule {
  const { when, scope, lifeMs, role } = rule
  const byRights = rule.isRbac === true ? from : undefined
  const whole = [issuer, when, scope, ...(byRights === undefined ? [] : [byRights])]
  let known: string | undefined
  const listed = visibilityOf(scope)
  const all = new Map<string, ClientVisibility>()
  return {
    fits: matcher(when),
    ...(byRights && { principalsOf: (claims) => principalsOf(claims, byRights) }),
    visibilityOf: async (principals) => {
      // Of a rule that follows RBAC, the list is empty: without a user nothing is seen.
      if (principals === undefined) return listed
      const key = idByRights(scope, principals)
      const visibility = all.get(key) ?? (await visibilityByRights(scope, principals))
      if (all.size >= VISIBILITIES_MAX) all.clear()
      all.set(key, visibility)
      return visibility
    },
    mayExplain: scope.explain === true,
    scope,
    lifeMs,
    role,
    // Keeps no promise: on Workers, one of a cancelled request never settles for others.
    id: async () => (known ??= await identify(JSON.stringify(whole))),
  }
}

async function identify(text: string): Promise<string> {
  return (await sha256Hex(new TextEncoder().encode(text))).slice(0, ID_DIGITS)
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
