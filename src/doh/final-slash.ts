/**
 * Keeps `/dns-query/` from being `/dns-query`: our router, chosen for its size, takes them for one,
 * and one resource with two names is two entries in every cache.
 * @module
 */
import type { MiddlewareHandler } from 'hono'
import { HttpError } from './http-error.ts'

/** Goes on unless a path below the root ends with a slash. @throws {HttpError} 404 when it does */
export const refuseFinalSlash: MiddlewareHandler = (c, next) => {
  const { path } = c.req
  if (path !== '/' && path.endsWith('/')) throw notFound()
  return next()
}

/** Makes the error of a path that there is not. */
export function notFound(): HttpError {
  return new HttpError(404, 'not_found', 'There is nothing here')
}
