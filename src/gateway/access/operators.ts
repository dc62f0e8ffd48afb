/**
 * Which operators open which routes: the admin token opens all of them, the read-only token those
 * that report and explain; persons whom an issuer knows open those of their role. Exporters may
 * read the status routes with their own tokens.
 * @module
 */
import type { Context } from 'hono'
import type { GatewayConfig } from '../config/config.ts'
import { matcherOf } from '../config/text-pattern.ts'
import { HttpError } from '../doh/http-error.ts'
import { noteOperator } from './audit.ts'
import type { KnownClusters } from './known-clusters.ts'
import { type Person, personWith } from './persons.ts'
import { sentToken } from './sent-token.ts'
import { equalSecrets, hashToken } from './token.ts'

type AdminHashes = GatewayConfig['adminSha256s']

/** Returns whether a request is an administrator's: by the admin token, or by an issuer's. */
export async function isAdmin(c: Context, adminSha256s: AdminHashes): Promise<boolean> {
  const person = personWith(c, 'administrator')
  const isTheirs = person !== undefined || (await carriesToken(c, adminSha256s))
  if (isTheirs) noteOperator(c, 'admin', person?.subject)
  return isTheirs
}

/**
 * Checks that a request may manage tokens.
 * @returns the person whose scope bounds that; `undefined` for an administrator
 * @throws {HttpError} 401
 */
export async function checkIssuer(
  c: Context,
  adminSha256s: AdminHashes,
): Promise<Person | undefined> {
  const person = personWith(c, 'issuer')
  if (person === undefined) await checkAdmin(c, adminSha256s)
  else noteOperator(c, 'issuer', person.subject)
  return person
}

/** Checks that a request may operate a cluster. @throws {HttpError} 401 */
export async function checkOperator(
  c: Context,
  adminSha256s: AdminHashes,
  cluster: string,
): Promise<void> {
  const person = personWith(c, 'operator')
  if (person === undefined || !matcherOf(person.scope.clusters)(cluster)) {
    return checkAdmin(c, adminSha256s)
  }
  noteOperator(c, 'operator', person.subject)
}

/** Returns whether a request may have every answer explained. */
export async function isExplainer(
  c: Context,
  { adminSha256s, readOnlySha256s }: Pick<GatewayConfig, 'adminSha256s' | 'readOnlySha256s'>,
): Promise<boolean> {
  if (await isAdmin(c, adminSha256s)) return true
  const person = personWith(c, 'viewer')
  const isTheirs = person !== undefined || (await carriesToken(c, readOnlySha256s))
  if (isTheirs) noteOperator(c, 'read-only', person?.subject)
  return isTheirs
}

/** Checks that a request carries the operator (admin) token. @throws {HttpError} 401 */
export async function checkAdmin(c: Context, adminSha256s: AdminHashes): Promise<void> {
  if (!(await isAdmin(c, adminSha256s))) throw unauthorized("The operator's token is needed")
}

/**
 * Checks that a request may read the states of clusters.
 * @returns whether it may read that of a cluster: an operator with a role reads its own ones
 * @throws {HttpError} 401
 */
export async function checkReader(
  c: Context,
  hashes: Pick<GatewayConfig, 'adminSha256s' | 'readOnlySha256s'>,
): Promise<(cluster: string) => boolean> {
  const person = personWith(c, 'operator')
  if (person !== undefined) {
    noteOperator(c, 'operator', person.subject)
    return matcherOf(person.scope.clusters)
  }
  if (await isExplainer(c, hashes)) return () => true
  throw unauthorized("An operator's token is needed")
}

/**
 * Checks that a request may read `/readyz` and `/metrics`: with the operator (admin), read-only or
 * configured client token, or an exporter's. `PUBLIC` does not open these routes.
 * @throws {HttpError} 401
 */
export async function checkStatusReader(
  c: Context,
  { adminSha256s, readOnlySha256s, access }: GatewayConfig,
  clusters: KnownClusters,
): Promise<void> {
  const exporters = clusters.ids().flatMap((id) => clusters.find(id)?.tokenSha256s ?? [])
  const hashes = [...adminSha256s, ...readOnlySha256s, access.sha256, ...exporters]
  if (personWith(c, 'viewer', 'administrator') !== undefined) return
  if (await carriesToken(c, hashes)) return
  throw unauthorized("An operator's or exporter's token is needed")
}

/** Returns whether a request carries a token with one of some hashes, compared in constant time. */
export async function carriesToken(
  c: Context,
  hashes: readonly (string | undefined)[],
): Promise<boolean> {
  const token = sentToken(c.req)
  if (token === undefined) return false
  const own = await hashToken(token)
  return hashes.some((sha256) => sha256 !== undefined && equalSecrets(own, sha256))
}

/** Returns the error for a route that takes Bearer tokens of operators or exporters. */
export function unauthorized(message: string): HttpError {
  const headers = { 'www-authenticate': 'Bearer realm="kubedoh"' }
  return new HttpError(401, 'unauthorized', message, headers)
}
