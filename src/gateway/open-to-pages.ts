/**
 * Lets pages of the web ask from a browser (the Fetch standard's CORS protocol), those of some
 * origins: others' requests are answered too, and it is their browser that keeps the answer from
 * them. Credentials of the browser's own are never asked for.
 * @module
 */
import type { MiddlewareHandler } from 'hono'

/** What a browser may send, and for how many seconds it remembers. */
const PREFLIGHT = {
  vary: 'Access-Control-Request-Headers',
  'access-control-max-age': '86400',
  'access-control-allow-methods': 'GET,HEAD,POST',
  'access-control-allow-headers': 'authorization,content-type,accept',
}

/**
 * Makes the part of an app that does.
 * @param origins such as `https://app.example.org`
 * @param exposed a header that pages may read
 */
export function openToPages(origins: readonly string[], exposed: string): MiddlewareHandler {
  return async (c, next) => {
    if (c.req.method === 'OPTIONS') c.res = new Response(null, { status: 204, headers: PREFLIGHT })
    else await next()
    const origin = c.req.header('origin') ?? ''
    const { headers } = c.res
    if (origins.includes(origin)) headers.set('access-control-allow-origin', origin)
    headers.set('access-control-expose-headers', exposed)
    headers.append('vary', 'Origin')
  }
}
