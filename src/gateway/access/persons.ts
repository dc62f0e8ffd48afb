/**
 * Operators whom an issuer knows, or who hold a token with a role, unlike those who share a token
 * of the configuration.
 * @module
 */
import type { Context } from 'hono'
import type { Role } from '../config/issuers.ts'
import { matcherOf } from '../config/text-pattern.ts'
import type { TokenScope } from '../config/token-scope.ts'
import { HttpError } from '../doh/http-error.ts'

/** An operator. */
export type Person = {
  /** The issuer and its name for the person; or `token` and the identifier of the token. */
  readonly subject: string
  readonly role: Role
  /** What an `issuer` may give to others, and the clusters of an `operator`. */
  readonly scope: TokenScope
  /** How long the tokens of an `issuer` count, in milliseconds. */
  readonly lifeMs: number
}

const persons = new WeakMap<Request, Person>()

/** Notes who sent a request. */
export function notePerson(c: Context, person: Person): void {
  persons.set(c.req.raw, person)
}

/** Returns who sent a request, if that has one of some roles. */
export function personWith(c: Context, ...roles: readonly Role[]): Person | undefined {
  const person = persons.get(c.req.raw)
  return person !== undefined && roles.includes(person.role) ? person : undefined
}

/**
 * Checks that a person may give a scope to others for a time.
 * @throws {HttpError} 403 that names what goes too far
 */
export function checkMayGive(
  { scope, lifeMs: lifeMaxMs }: Person,
  wanted: { readonly scope: TokenScope; readonly lifeMs: number | undefined },
): void {
  const { scope: asked, lifeMs } = wanted
  const isWithin =
    covers(scope.clusters, asked.clusters) &&
    covers(scope.origins, asked.origins) &&
    covers(scope.namespaces, asked.namespaces)
  if (!isWithin) throw forbidden('You may give what you see yourself, no more: see your rule')
  if (asked.recurse && !scope.recurse) throw forbidden('You may not give "recurse"')
  if (asked.explain === true && scope.explain !== true)
    throw forbidden('You may not give "explain"')
  if (lifeMs !== undefined && lifeMs <= lifeMaxMs) return
  throw forbidden(`Your tokens need "expiresInSeconds", ${lifeMaxMs / 1000} at most`)
}

function forbidden(message: string): HttpError {
  return new HttpError(403, 'not_yours', message)
}

/**
 * Returns whether each text that fits one of `asked` fits one of `allowed`. A `*` in an asked
 * pattern can only be matched by a `*` of an allowed one, so matching patterns as texts decides.
 */
function covers(allowed: readonly string[], asked: readonly string[]): boolean {
  return asked.every((pattern) => allowed.some((one) => coversOne(one, pattern)))
}

/** Of patterns with parts joined by `&`, each part that is allowed has one within it. */
function coversOne(allowed: string, asked: string): boolean {
  if (allowed === '*') return true
  const parts = asked.split('&')
  return allowed.split('&').every((wide) => {
    const fits = matcherOf([wide])
    return parts.some((part) => part.includes('=') === wide.includes('=') && fits(part))
  })
}
