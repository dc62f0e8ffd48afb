/**
 * Paths that end with a slash name nothing.
 * @module
 */
import type { MiddlewareHandler } from 'hono'
import { notFound } from './http-error.ts'

/** Refuses a path below the root that ends with a slash. @throws {HttpError} 404 */
export const refuseFinalSlash: MiddlewareHandler = (c, next) => {
  const { path } = c.req
  if (path !== '/' && path.endsWith('/')) throw notFound()
  return next()
}
