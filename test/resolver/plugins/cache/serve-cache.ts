/**
 * Servers with a cache, and what is to be seen of them, for the tests of it.
 * @module
 */
import { block, type Server, serve } from '../../../ask.ts'
import type { UpstreamAct, UpstreamScript } from '../../../fake-host.ts'

/** Labels of a cache's metrics. */
export const LABELS = 'server="dns://:53",zones=".",view=""'

/** Those of a half's. */
export const half = (type: string): string => `server="dns://:53",type="${type}",zones=".",view=""`

/** A server with a `cache` before an upstream that does the same each time, or as a script says. */
export function serveCache(cache: string, upstream: UpstreamAct | UpstreamScript): Server {
  return serve(block(cache, 'forward . 192.0.2.53'), {
    upstream: typeof upstream === 'function' ? upstream : () => upstream,
  })
}

/** TTLs of all records in a reply's lines. */
export function ttls(lines: readonly string[]): number[] {
  return lines.flatMap((line) => {
    const [, ttl] = /^(?:\w+: )?\S+ (\d+) IN /.exec(line) ?? []
    return ttl === undefined ? [] : [Number(ttl)]
  })
}
