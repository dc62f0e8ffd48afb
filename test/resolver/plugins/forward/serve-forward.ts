/**
 * Servers with `forward` directives and scripted upstreams, for its tests.
 * @module
 */
import { block, type Server, serve } from '../../../ask.ts'
import type { UpstreamAct, UpstreamScript } from '../../../fake-host.ts'

/** What an upstream does where nobody listens. */
export const DEAD: Error = new Error('connection refused')

/** A server with one `forward` and what each of its upstreams does, by the address's end. */
export function serveForward(
  line: string,
  acts: Readonly<Record<string, UpstreamAct | UpstreamScript>>,
): Server {
  return serve(block('errors', line), {
    upstream: (asked) => {
      const act = acts[asked.upstream.replace(/^192\.0\.2\.(\d+):53$/, '$1')] ?? DEAD
      return typeof act === 'function' ? act(asked) : act
    },
  })
}

/** The ends of the addresses that were asked for a name, in order. */
export function askedFor(server: Server, name = 'www.example.org.'): string {
  return server.host.asked
    .filter(({ question }) => question.startsWith(`${name} `))
    .map(({ upstream }) => upstream.replace(/^192\.0\.2\.(\d+):53$/, '$1'))
    .join(' ')
}
