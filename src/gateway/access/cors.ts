/**
 * Response headers that a gateway adds: the age of the names in an answer, and CORS.
 *
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

/** Response header with the age in seconds. */
export const AGE_HEADER = 'kubedoh-snapshot-age'
/** Most ages whose headers are kept. */
const AGES_MAX = 64

type Headers = Readonly<Record<string, string>>

/** Creates the header with the age. */
export class AgeHeaders {
  private readonly byAge = new Map<number, Headers>()

  /**
   * Returns the same object for the same second: the cache of response headers goes by identity.
   * Returns no header for `Infinity`.
   */
  of(ageMs: number): Headers {
    if (!Number.isFinite(ageMs)) return {}
    const seconds = Math.round(ageMs / 1000)
    const known = this.byAge.get(seconds)
    if (known !== undefined) return known
    if (this.byAge.size >= AGES_MAX) this.byAge.clear()
    const header = { [AGE_HEADER]: String(seconds) }
    this.byAge.set(seconds, header)
    return header
  }
}

/** Adds the CORS headers to responses of the fast path, as {@link createCors} does in the app. */
export class CorsHeaders {
  private readonly origins: readonly string[]
  private readonly known = new WeakMap<Headers, Map<string, Headers>>()

  constructor(origins: readonly string[]) {
    this.origins = origins
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
      'access-control-expose-headers': AGE_HEADER,
      vary: [...vary, 'Origin'].join(', '),
    }
    byOrigin.set(key, headers)
    return headers
  }
}

/**
 * Returns the middleware for CORS. Preflights get the security headers of all responses too.
 * @param origins such as `https://app.example.org`
 */
export function createCors(origins: readonly string[]): MiddlewareHandler {
  const allow = cors({
    origin: [...origins],
    allowMethods: ['GET', 'HEAD', 'POST'],
    allowHeaders: ['authorization', 'content-type', 'accept'],
    exposeHeaders: [AGE_HEADER],
    maxAge: PREFLIGHT_SECONDS,
  })
  return (c, next) => {
    if (c.req.method === 'OPTIONS') {
      for (const [name, value] of Object.entries(SECURITY_HEADERS)) c.header(name, value)
    }
    return allow(c, next)
  }
}
