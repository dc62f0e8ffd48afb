/**
 * The `cookies` plugin: DNS cookies (RFC 7873) that replicas share (RFC 9018), and a bound for UDP
 * responses to clients that have not proved their address. Not in CoreDNS.
 *
 * A valid cookie or a connection proves it: a forged source address gets neither.
 * @module
 */

import { readUint16 } from '../../../dns/bytes/bytes.ts'
import { parseClientAddress } from '../../../dns/names/network.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { metricInfo } from '../../../dns/telemetry/metrics.ts'
import { type EdnsOption, OPTION } from '../../../dns/wire/edns.ts'
import { EMPTY_REPLY } from '../../../dns/wire/message.ts'
import type { Query } from '../../../dns/wire/query.ts'
import type { Host } from '../../contract/host.ts'
import { andThen } from '../../contract/maybe-promise.ts'
import { failure, type Outcome } from '../../contract/outcome.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import { parseCookies } from './options.ts'
import { RateLimit } from './rate-limit.ts'
import {
  BOTH_COOKIES_BYTES_MAX,
  BOTH_COOKIES_BYTES_MIN,
  CLIENT_COOKIE_BYTES,
  checkCookie,
  DailySecrets,
} from './server-cookie.ts'

/** What the plugin needs beyond the host of all plugins. */
export type CookiesHost = {
  /** Random bytes for cookies and counters: 16, the same in all threads of the process. */
  readonly cookieSecret: Uint8Array
}

const LIMITED = metricInfo(
  'kubedoh_cookies_limited_total',
  'UDP queries of unverified clients above the rate of their network.',
  'server response',
)

/** Configures `cookies [SECRET-FILE] { rate N  slip N }`. */
export const cookiesPlugin: PluginEntry<Host & CookiesHost> = {
  name: 'cookies',
  gateways: {
    at: 'gateway',
    is: 'ignored',
    because: 'HTTPS proves the addresses of clients, and REQUESTS_PER_MINUTE limits their rate',
  },
  setup: (directives, { host, pathOf, server }) => {
    const { cookieSecret, metrics } = host
    const options = parseCookies(directives, (path) => host.readText(pathOf(path)))
    const { secrets, rate, slip } = options
    const daily = new DailySecrets(cookieSecret)
    const limit = rate === undefined ? undefined : new RateLimit(rate, cookieSecret)
    const [truncated, badCookie, dropped] = ['truncated', 'badcookie', 'none'].map((response) =>
      metrics.counter(LIMITED, [server, response]),
    )
    let limited = 0
    const overRate = (cookie: EdnsOption | undefined): Outcome => {
      limited++
      const isAnswered = slip > 0 && limited % slip === 0
      const series = !isAnswered ? dropped : cookie === undefined ? truncated : badCookie
      if (series !== undefined) series.value++
      if (!isAnswered) return { kind: 'drop' }
      if (cookie === undefined) return { ...EMPTY_REPLY, truncated: true }
      return failure(RCODE.BADCOOKIE, undefined, [cookie])
    }
    return {
      plugin: {
        name: 'cookies',
        fastPath: {
          needsSlowPath: (query, { transport }) =>
            (limit !== undefined && transport === 'udp') || cookieSpot(query) > 0,
        },
        serve: (request, next) => {
          const { query, client } = request
          const address = parseClientAddress(client.address)
          // The server's own look-ups copy the options of the query that they are for.
          if (request.isLookup === true || address === undefined) return next(request)
          const option = cookieOf(query)
          const isMalformed = option !== undefined && !isValidSize(option.length)
          const nowSeconds = Math.floor(host.now() / 1000)
          const verdict =
            option === undefined || isMalformed
              ? undefined
              : checkCookie(secrets ?? daily.at(nowSeconds), option, { address, nowSeconds })
          const cookie = verdict && { code: OPTION.COOKIE, data: verdict.data }
          const isVerified = client.transport !== 'udp' || verdict?.isValid === true
          if (limit !== undefined && !isVerified && !limit.take(address, host.elapsed())) {
            return overRate(cookie)
          }
          if (isMalformed) return failure(RCODE.FORMERR)
          if (cookie === undefined) return next(request)
          return andThen(next(request), (outcome) => withCookie(outcome, cookie))
        },
      },
    }
  },
}

/** Returns the data of a query's COOKIE option; `undefined` without one. */
function cookieOf(query: Query): Uint8Array | undefined {
  const at = cookieSpot(query)
  if (at === 0) return undefined
  const { bytes } = query
  return bytes.slice(at + 4, at + 4 + readUint16(bytes, at + 2))
}

/** Returns the offset of the first COOKIE option, the only one that counts; 0 without one. */
function cookieSpot({ bytes, optionsStart, optionsBytes }: Query): number {
  const end = optionsStart + optionsBytes
  let at = optionsStart
  while (at < end) {
    if (readUint16(bytes, at) === OPTION.COOKIE) return at
    at += 4 + readUint16(bytes, at + 2)
  }
  return 0
}

/** Whether a COOKIE option has a client cookie, alone or with a server cookie (RFC 7873 §4). */
function isValidSize(size: number): boolean {
  const hasBoth = size >= BOTH_COOKIES_BYTES_MIN && size <= BOTH_COOKIES_BYTES_MAX
  return hasBoth || size === CLIENT_COOKIE_BYTES
}

/** Adds the cookie to the response, in place of one that an upstream sent. */
function withCookie(outcome: Outcome, cookie: EdnsOption): Outcome {
  if (outcome.kind !== 'reply' && outcome.kind !== 'failure') return outcome
  const others = outcome.options.filter(({ code }) => code !== OPTION.COOKIE)
  return { ...outcome, options: [...others, cookie] }
}
