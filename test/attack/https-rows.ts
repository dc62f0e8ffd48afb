/**
 * The attacks on DNS-over-HTTPS servers.
 * @module
 */

import { type Row, SCALE } from './harness.ts'
import type { Attack } from './http-attacks.ts'
import type { Field } from './http2-wire.ts'
import { query } from './wire.ts'

const HTTP1 = import.meta.resolve('./http-attacks.ts')
const HTTP2 = import.meta.resolve('./http2-attacks.ts')
const STREAMS = import.meta.resolve('./stream-attacks.ts')

/** A server, and the credentials of its attackers. */
export type Attacked = {
  readonly port: number
  /** A name with addresses. */
  readonly name: string
  /** The token of an authenticated attacker; '' for a server without tokens. */
  readonly token: string
}

type Argument = Attack & Readonly<Record<string, unknown>>

/** Numbers of connections from one address, and from many. */
const ONE = 1
const MANY = 40
/** Duration of attacks after their connections are open, and of byte-at-a-time attacks. */
const HOLD_MS = 2000
const SLOW_MS = 3000
/** 500 handshakes at once, for which new connections of others wait, on a machine that is slow. */
const HANDSHAKES_MS = 2000

/** Returns the rows. */
export function httpsRows({ port, name, token }: Attacked): readonly Row[] {
  const path = `/dns-query?dns=${query({ id: 0, name }).toString('base64url')}`
  const authorization = token === '' ? '' : `Authorization: Bearer ${token}\r\n`
  const fields: readonly Field[] = token === '' ? [] : [['authorization', `Bearer ${token}`]]
  const of = (count: number, holdMs: number, addresses: number): Attack => {
    return { port, count: Math.round(count * SCALE), holdMs, addresses }
  }
  const from = ({ count, addresses }: Attack): string =>
    `${count} connections, ${addresses} ${addresses === 1 ? 'address' : 'addresses'}`
  const row = (name: string, module: string, run: string, argument: Argument): Row => {
    return { name, volume: from(argument), module, run, argument }
  }
  const floods = (name: string, kinds: readonly string[]): Row => {
    const argument = { ...of(kinds.length * 4, HOLD_MS, MANY), path, fields, kinds }
    return row(`HTTP/2: ${name}`, HTTP2, 'http2Flood', argument)
  }
  const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n`
  const post = `POST /dns-query HTTP/1.1\r\nHost: localhost\r\n${authorization}`
  const body = 'Content-Type: application/dns-message\r\nContent-Length: 60000\r\n\r\n'
  return [
    row('silent connections', STREAMS, 'hold', of(2000, HOLD_MS, ONE)),
    row('silent connections', STREAMS, 'hold', of(4000, HOLD_MS, MANY)),
    row('handshakes that stop', STREAMS, 'hold', {
      ...of(2000, HOLD_MS, ONE),
      ...{ sends: '1603010200010001fc0303' },
    }),
    row('HTTP/2: unfinished bodies of GET', HTTP2, 'unfinishedBodies', {
      ...of(2000, SLOW_MS, ONE),
      ...{ method: 'GET', pauseMs: 1000, path },
    }),
    row('HTTP/2: unfinished bodies of POST, with a token', HTTP2, 'unfinishedBodies', {
      ...of(1000, SLOW_MS, MANY),
      ...{ method: 'POST', pauseMs: 1000, path, fields },
    }),
    row('HTTP/2: 16 bodies each without their last byte, with a token', HTTP2, 'heldBodies', {
      ...of(490, SLOW_MS, ONE),
      ...{ path: '/dns-query', fields, kinds: [], streamsEach: 16, bytesEach: 64_000 },
    }),
    row('HTTP/2: 4 bodies each without their last byte, without a token', HTTP2, 'heldBodies', {
      ...of(490, SLOW_MS, ONE),
      ...{ path: '/dns-query', kinds: [], streamsEach: 4, bytesEach: 64_000 },
    }),
    row('HTTP/1.1: slow headers', HTTP1, 'slowRequests', {
      ...of(2500, SLOW_MS, ONE),
      ...{ first: `${head}X-Slow: `, pauseMs: 1000 },
    }),
    row('HTTP/1.1: slow bodies, with a token', HTTP1, 'slowRequests', {
      ...of(1000, SLOW_MS, MANY),
      ...{ first: `${post}${body}`, pauseMs: 1000 },
    }),
    row('HTTP/1.1: 100 requests each, responses never read', HTTP1, 'unreadPipelines', {
      ...of(500, HOLD_MS, ONE),
      ...{ request: `${head}${authorization}\r\n`, requestsEach: 100 },
    }),
    {
      ...row('HTTP/2: 200 requests each, responses never read', HTTP2, 'unread', {
        ...of(500, HOLD_MS, ONE),
        ...{ path, fields, kinds: [] },
      }),
      p99MsMax: HANDSHAKES_MS,
    },
    floods('resets', ['rapid reset', 'made you reset']),
    floods('headers', ['CONTINUATION', 'HPACK bomb', 'HPACK resizes']),
    floods('control frames', [
      'SETTINGS',
      'PING',
      'GOAWAY',
      'WINDOW_UPDATE',
      'PRIORITY',
      'empty DATA',
    ]),
    row('malformed messages', HTTP1, 'malformedMessages', {
      ...of(16, HOLD_MS, MANY),
      ...{ path: '/dns-query', headers: authorization },
    }),
  ]
}
