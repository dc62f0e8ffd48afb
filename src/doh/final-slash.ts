/**
 * Refuses paths with a final slash: hono's small router treats `/dns-query/` as `/dns-query`, and a
 * resource with two names takes two entries in every cache.
 * @module
 */
import type { MiddlewareHandler } from 'hono'
import { HttpError } from './http-error.ts'

/** Refuses a path below the root that ends with a slash. @throws {HttpError} 404 */
export const refuseFinalSlash: MiddlewareHandler = (c, next) => {
  const { path } = c.req
  if (path !== '/' && path.endsWith('/')) throw notFound()
  return next()
}

/** Returns the 404 for an unknown path. */
export function notFound(): HttpError {
  return new HttpError(404, 'not_found', 'There is nothing here')
}
