/**
 * Protects the routes that change something from pages of other sites. A browser that remembers the
 * operator's token, as a password of Basic authentication, adds it to their requests, too.
 * @module
 */
import type { Context, MiddlewareHandler } from 'hono'
import { HttpError } from '../doh/http-error.ts'

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Values of `Sec-Fetch-Site` for the gateway's own page, and for what the user typed. */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none'])

/**
 * Creates the middleware that refuses requests with an unsafe method (RFC 9110 §9.2.1) that a
 * browser sends for a page of another origin, by `Sec-Fetch-Site` (W3C Fetch Metadata): pages
 * cannot set that header, and programs do not send it. Browsers without it, such as Safari before
 * 16.4, send `Origin`.
 * @param urlOf returns the URL by which the client reached the gateway
 * @returns the middleware, which throws {@link HttpError} 403
 */
export function createCrossSite(urlOf: (c: Context) => URL): MiddlewareHandler {
  return async (c, next) => {
    if (!SAFE_METHODS.has(c.req.method) && !isOwn(c, urlOf)) {
      throw new HttpError(403, 'cross_site', 'A page of another site may not change anything here')
    }
    await next()
  }
}

function isOwn(c: Context, urlOf: (c: Context) => URL): boolean {
  const { req } = c
  const site = req.header('sec-fetch-site')
  if (site !== undefined) return OWN_SITES.has(site)
  const origin = req.header('origin')
  if (origin === undefined) return true
  // A proxy may end TLS, so the scheme does not count.
  return URL.canParse(origin) && new URL(origin).host === urlOf(c).host
}
