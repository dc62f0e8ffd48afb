/**
 * CORS (Fetch standard §3.2): web pages of the configured origins may read responses. A browser
 * sends the requests of other pages too, and hides the responses from them. The gateway never
 * allows the browser's own credentials.
 * @module
 */
import type { MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import { SECURITY_HEADERS } from '../doh/json-response.ts'

/** How long a browser may remember a preflight. */
const PREFLIGHT_SECONDS = 86_400

/** Response headers. */
type Headers = Readonly<Record<string, string>>

/**
 * Adds the CORS headers to responses of the fast path, as {@link createCors} does in the app.
 */
export class CorsHeaders {
  private readonly origins: readonly string[]
  private readonly exposed: string
  private readonly known = new WeakMap<Headers, Map<string, Headers>>()

  /** Takes the parameters of {@link createCors}. */
  constructor(origins: readonly string[], exposed: string) {
    this.origins = origins
    this.exposed = exposed
  }

  /**
   * Returns the headers for a request's `Origin`, '' for none. The same input gives the same
   * object, because response headers are cached by its identity.
   * @param vary what else the response varies by
   */
  with(more: Headers, origin: string, vary: readonly string[]): Headers {
    const allowed = this.origins.includes(origin) ? origin : ''
    const byOrigin = this.known.get(more) ?? new Map<string, Headers>()
    this.known.set(more, byOrigin)
    const key = `${vary} ${allowed}`
    const known = byOrigin.get(key)
    if (known !== undefined) return known
    const headers = {
      ...more,
      ...(allowed !== '' && { 'access-control-allow-origin': allowed }),
      'access-control-expose-headers': this.exposed,
      vary: [...vary, 'Origin'].join(', '),
    }
    byOrigin.set(key, headers)
    return headers
  }
}

/**
 * Returns the middleware for CORS. Preflights get the security headers of all responses too.
 * @param origins such as `https://app.example.org`
 * @param exposed the response header that pages may read
 */
export function createCors(origins: readonly string[], exposed: string): MiddlewareHandler {
  const allow = cors({
    origin: [...origins],
    allowMethods: ['GET', 'HEAD', 'POST'],
    allowHeaders: ['authorization', 'content-type', 'accept'],
    exposeHeaders: [exposed],
    maxAge: PREFLIGHT_SECONDS,
  })
  return (c, next) => {
    if (c.req.method === 'OPTIONS') {
      for (const [name, value] of Object.entries(SECURITY_HEADERS)) c.header(name, value)
    }
    return allow(c, next)
  }
}
