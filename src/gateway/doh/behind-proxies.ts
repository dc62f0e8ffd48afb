/**
 * Which client sent a request, and by which URL, where proxies are in between.
 * @module
 */
import type { Context } from 'hono'
import type { Client } from '../../resolver/contract/client.ts'
import type { Forwarded, TrustedProxies } from './trusted-proxies.ts'

/** What a runtime knows of the sender of a request. */
type Runtime = {
  readonly clientOf: (c: Context) => Client
  /** Returns the name in the TLS handshake (SNI); `undefined` where it is not known. */
  readonly serverNameOf?: (c: Context) => string | undefined
}

/** What the proxies add. */
export type BehindProxies = {
  /** Returns the URL by which the client reached the gateway. */
  readonly urlOf: (c: Context) => URL
}

/**
 * Completes a runtime, whose `clientOf` then returns the client that trusted proxies name, and
 * whose `serverNameOf` no name in a proxy's handshake. Without any, everybody may say that a proxy
 * terminates TLS, which only the sender's own response has.
 */
export function behindProxies<R extends Runtime>(
  runtime: R,
  proxies: TrustedProxies | undefined,
): R & BehindProxies {
  const { clientOf, serverNameOf } = runtime
  if (proxies === undefined) {
    const schemeOf = (c: Context): 'https' | undefined =>
      c.req.header('x-forwarded-proto') === 'https' ? 'https' : undefined
    return { ...runtime, urlOf: (c) => withScheme(c, schemeOf(c)) }
  }
  const find = (c: Context, peer: string): Forwarded | undefined =>
    proxies.find(peer, { header: (name) => c.req.header(name) })
  return {
    ...runtime,
    clientOf: (c) => {
      const client = clientOf(c)
      const forwarded = find(c, client.address)
      return forwarded === undefined ? client : { ...client, address: forwarded.address, port: 0 }
    },
    serverNameOf: (c) =>
      find(c, clientOf(c).address) === undefined ? serverNameOf?.(c) : undefined,
    urlOf: (c) => {
      const { scheme, host } = find(c, clientOf(c).address) ?? {}
      const url = withScheme(c, scheme)
      const text = `${url.protocol}//${host}`
      return host !== undefined && URL.canParse(text) ? new URL(text) : url
    },
  }
}

function withScheme(c: Context, scheme: Forwarded['scheme']): URL {
  const url = new URL(c.req.url)
  if (scheme !== undefined) url.protocol = `${scheme}:`
  return url
}
