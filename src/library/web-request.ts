/**
 * Requests as Web APIs have them, answered by the fast path or the app: in Workers and other
 * runtimes whose servers call a function with a `Request`.
 * @module
 */

import type { DirectDoh } from '../gateway/routes/direct-doh.ts'
import type { KeepAlive } from '../gateway/timing/follower.ts'

/** What the runtime knows of a request beside it. */
export type Sender = {
  /** The client's address. */
  readonly address: string
  /** Returns client identities that the runtime has verified: `cert:SHA256`. */
  readonly identities: () => readonly string[]
  readonly keepAlive: KeepAlive
}

/** A path with segments of dots (RFC 3986 §5.2.4), which may be percent-encoded. */
const DOT_SEGMENT = /\/(?:\.|%2e)/i

/**
 * Answers a request.
 * @param app answers what the fast path does not
 */
export async function answerRequest(
  direct: DirectDoh,
  app: (request: Request) => Response | Promise<Response>,
  sent: Request,
  sender: Sender,
): Promise<Response> {
  const request = withoutDots(sent)
  return (await answerDirectly(direct, request, sender)) ?? app(request)
}

/** Resolves dot segments (RFC 3986 §5.2.4), as Node, Bun and Deno do before the app runs. */
function withoutDots(request: Request): Request {
  const { url } = request
  return DOT_SEGMENT.test(url) ? new Request(new URL(url).href, request) : request
}

async function answerDirectly(
  direct: DirectDoh,
  request: Request,
  { address, identities, keepAlive }: Sender,
): Promise<Response | undefined> {
  const { url, method, headers: sent } = request
  const admitted = direct.admit({
    method,
    path: url.slice(url.indexOf('/', 'https://'.length)),
    // Runtimes differ in whether they add the header.
    header: (name) => (name === 'host' ? new URL(url).host : sent.get(name)),
    address,
    identities,
    request,
  })
  if (admitted === undefined) return undefined
  const bytes = admitted.isPost ? new Uint8Array(await request.arrayBuffer()) : undefined
  const { status, headers, body } = await direct.answer(admitted, bytes, keepAlive)
  return new Response(body, { status, headers })
}
