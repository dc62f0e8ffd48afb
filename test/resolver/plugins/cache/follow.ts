/**
 * Servers whose upstream does one thing after another, followed over time, for the tests of what a
 * cache does when the time of its entries is up.
 * @module
 */
import assert from 'node:assert/strict'
import { block, directive, type Server, serve } from '../../../ask.ts'
import { settle, type UpstreamAct } from '../../../fake-host.ts'
import { SOA } from './kept-cases.ts'
import { ttls } from './serve-cache.ts'

/** What is asked for. */
export const ASK = 'www.example.org A'
/** What an upstream does where nobody listens. */
export const DEAD: Error = new Error('connection refused')
/** What an upstream answers: an address by its end. */
export const answer = (end: number, ttl = 10): string[] => [
  'NOERROR ra',
  `www.example.org. ${ttl} IN A 192.0.2.${end}`,
]
/** What it answers of a name that is not there. */
export const DENIAL: string[] = ['NXDOMAIN ra', `authority: ${SOA.replace('60', '10')}`]

/** A server with a cache, whose upstream does each time what is next, the last thing again. */
export function serveActs(
  options: readonly string[],
  acts: readonly UpstreamAct[],
  {
    isolatesRequests = false,
    before = [],
  }: { readonly isolatesRequests?: boolean; readonly before?: readonly string[] } = {},
): Server {
  const left = [...acts]
  return serve(block(...before, directive('cache', ...options), 'forward . 192.0.2.53'), {
    isolatesRequests,
    upstream: ({ question }) => {
      if (!question.startsWith('www')) return DEAD
      return left.length > 1 ? (left.shift() ?? DEAD) : (left[0] ?? DEAD)
    },
  })
}

/** How often the upstream was asked for the name. */
export function askedCount({ host }: Server): number {
  return host.asked.filter(({ question }) => question.startsWith('www')).length
}

/** The response code, the last bytes of addresses and the TTLs of a reply: `NOERROR 1 10`. */
export function brief(lines: readonly string[]): string {
  const [code] = lines[0]?.split(' ') ?? []
  const ends = lines.flatMap((line) => / IN A 192\.0\.2\.(\d+)$/.exec(line)?.[1] ?? [])
  return [code, ...ends, ...ttls(lines)].join(' ')
}

/** A question at some second, what comes back, and how often the upstream was asked by then. */
export type Step = { readonly at: number; readonly reply: string; readonly asked: number }

/** Asks at some seconds; checks the replies, and how often the upstream was asked by then. */
export async function follow(server: Server, steps: readonly Step[]): Promise<void> {
  let now = 0
  for (const { at, reply, asked } of steps) {
    await server.host.advance((at - now) * 1000)
    now = at
    assert.equal(brief(await server.ask(ASK)), reply, `at ${at} s`)
    await settle()
    assert.equal(askedCount(server), asked, `asked at ${at} s`)
  }
}
