/**
 * Which operators' tokens open which routes: the admin token opens all of them, the read-only token
 * those that report and explain; exporters may read the status routes with their own tokens.
 * @module
 */
import type { Context } from 'hono'
import type { GatewayConfig } from '../config/config.ts'
import { HttpError } from '../doh/http-error.ts'
import { noteOperator } from './audit.ts'
import { sentToken } from './caller.ts'
import { hasHash } from './token.ts'

type AdminHash = GatewayConfig['adminSha256']

/** Returns whether a request carries the operator (admin) token. */
export async function isAdmin(c: Context, adminSha256: AdminHash): Promise<boolean> {
  const isTheirs = await carriesToken(c, [adminSha256])
  if (isTheirs) noteOperator(c, 'admin')
  return isTheirs
}

/** Returns whether a request carries a token that may explain every answer. */
export async function isExplainer(
  c: Context,
  { adminSha256, readOnlySha256 }: Pick<GatewayConfig, 'adminSha256' | 'readOnlySha256'>,
): Promise<boolean> {
  if (await isAdmin(c, adminSha256)) return true
  const isTheirs = await carriesToken(c, [readOnlySha256])
  if (isTheirs) noteOperator(c, 'read-only')
  return isTheirs
}

/** Checks that a request carries the operator (admin) token. @throws {HttpError} 401 */
export async function checkAdmin(c: Context, adminSha256: AdminHash): Promise<void> {
  if (!(await isAdmin(c, adminSha256))) throw unauthorized("The operator's token is needed")
}

/**
 * Checks that a request may read `/readyz` and `/metrics`: with the operator (admin), read-only or
 * configured client token, or an exporter's. `PUBLIC` does not open these routes.
 * @throws {HttpError} 401
 */
export async function checkStatusReader(
  c: Context,
  { clusters, adminSha256, readOnlySha256, access }: GatewayConfig,
): Promise<void> {
  const exporters = [...clusters.values()].map(({ tokenSha256 }) => tokenSha256)
  const hashes = [adminSha256, readOnlySha256, access.sha256, ...exporters]
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
  for (const sha256 of hashes) {
    if (sha256 !== undefined && (await hasHash(token, sha256))) return true
  }
  return false
}

/** Returns the error for a route that takes Bearer tokens of operators or exporters. */
export function unauthorized(message: string): HttpError {
  const headers = { 'www-authenticate': 'Bearer realm="kubedoh"' }
  return new HttpError(401, 'unauthorized', message, headers)
}
