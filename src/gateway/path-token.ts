/**
 * The token in a request's path, `/t/TOKEN/dns-query`, for clients that cannot send headers.
 * @module
 */

const PREFIX = '/t/'

/** A path and its token. */
export type TokenPath = {
  /** The token as sent; `undefined` without one. */
  readonly token: string | undefined
  /** Offset of the route in the path: `/dns-query`. */
  readonly routeStart: number
}

const NONE: TokenPath = { token: undefined, routeStart: 0 }

/** Finds the token. Never percent-decodes it: the gateway's tokens need no encoding. */
export function splitTokenPath(path: string): TokenPath {
  if (!path.startsWith(PREFIX)) return NONE
  const end = path.indexOf('/', PREFIX.length)
  return end < 0 ? NONE : { token: path.slice(PREFIX.length, end), routeStart: end }
}
