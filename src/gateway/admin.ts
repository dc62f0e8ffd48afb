/**
 * Who may keep a gateway: the holder of the operator's token.
 * @module
 */
import type { Context } from 'hono'
import { HttpError } from '../doh/http-error.ts'
import { headerToken } from './access.ts'
import { hasHash } from './token.ts'

/**
 * Lets the operator pass.
 * @param adminSha256 SHA-256 of the operator's token; `undefined`: there is none
 * @throws {HttpError} 401 for everybody else
 */
export async function checkAdmin(c: Context, adminSha256: string | undefined): Promise<void> {
  const token = headerToken(c.req.raw)
  const isAdmin = adminSha256 !== undefined && token !== undefined
  if (isAdmin && (await hasHash(token, adminSha256))) return
  throw new HttpError(401, 'unauthorized', "The operator's token is needed", {
    'www-authenticate': 'Bearer realm="kubedoh"',
  })
}
