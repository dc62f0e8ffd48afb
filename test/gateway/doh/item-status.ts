/**
 * Items of the protocol checklist about DNS over HTTPS: status codes (RFC 8484 §4.2.1, RFC 9110
 * §15).
 * @module
 */
import assert from 'node:assert/strict'
import { RCODE } from '../../../src/dns/names/rcode.ts'
import { checkAlways, textOf } from './check-case.ts'
import {
  bearer,
  get,
  getByteRange,
  type Item,
  messageOf,
  post,
  type RequestCase,
  resolve,
  WEB,
  WIRE,
  withByte,
} from './item-cases.ts'
import { makeToken } from './item-security.ts'
import { pathOf } from './replies.ts'

const QUERY = messageOf(`${WEB} A`)
const PATH = pathOf(QUERY)

const rcode = (name: string, ask: { path: string }, lines: readonly string[]): RequestCase => ({
  name,
  ...ask,
  status: 200,
  lines,
  has: { 'cache-control': 'no-store, no-transform', 'content-type': WIRE },
})

/** Status codes. */
export const STATUS: readonly Item[] = [
  {
    topic: 'RCODEs with status 200',
    cases: [
      rcode('SERVFAIL', get('a.later.test A +edns'), [
        'SERVFAIL rd',
        'edns: 1232',
        'ede: 14 no snapshot yet',
      ]),
      rcode('REFUSED', get('www.example.com A +edns'), ['REFUSED rd', 'edns: 1232', 'ede: 20']),
      rcode('REFUSED by a rule', get('a.blocked.test A'), ['REFUSED rd']),
      rcode('FORMERR', getByteRange(QUERY.subarray(0, 20)), ['FORMERR rd']),
      rcode('NOTIMP', getByteRange(withByte(QUERY.subarray(0, 12), 2, 0x28)), ['NOTIMP']),
      rcode('BADVERS', getByteRange(withVersion(messageOf(`${WEB} A +edns`), 1)), [
        'BADVERS rd',
        'edns: 1232',
      ]),
      {
        name: 'NXDOMAIN',
        ...get('none.shop.svc.shop.test A'),
        status: 200,
        lines: [
          'NXDOMAIN aa rd',
          'authority: shop.test. 5 IN SOA ns.dns.shop.test. hostmaster.shop.test. 1 7200 1800 86400 5',
        ],
      },
      {
        name: 'SERVFAIL in JSON',
        ...resolve('name=a.later.test'),
        status: 200,
        json: { Status: RCODE.SERVFAIL },
      },
    ],
    untested: 'BADCOOKIE: cookies are not implemented, so no gateway sends it',
  },
  {
    topic: 'missing and bad credentials',
    cases: [
      {
        name: 'a client without a token learns which scheme to use',
        to: 'closed',
        path: PATH,
        status: 401,
        code: 'unauthorized',
        has: { 'www-authenticate': 'Bearer realm="kubedoh", Basic realm="kubedoh"' },
      },
      {
        name: 'a wrong one is no better',
        to: 'closed',
        ...get(`${WEB} A`, bearer('x')),
        status: 401,
      },
      { name: 'nor in the path', to: 'closed', path: `/t/x${PATH}`, status: 401 },
      {
        name: 'a known client without permission gets 403',
        check: async ({ send }) => {
          const { token } = await makeToken(send, {})
          const path = `/v1/explain?name=${WEB}`
          const got = await send({ path, headers: bearer(token) }, 'closed')
          assert.deepEqual([got.status, JSON.parse(textOf(got)).error.code], [403, 'forbidden'])
        },
      },
    ],
  },
  {
    topic: 'overload',
    cases: [
      {
        name: 'says 429, and when to come again, to a client that queries too often',
        check: async ({ send }) => {
          const got = await Promise.all(
            Array.from({ length: 6 }, () => send({ path: PATH }, 'narrow')),
          )
          const refused = got.filter(({ status }) => status === 429)
          assert.ok(refused.length > 0, got.map(({ status }) => status).join())
          for (const one of refused) {
            checkAlways(one)
            assert.match(one.headers.get('retry-after') ?? '', /^\d+$/)
          }
        },
      },
      rcode('what cannot be answered yet is no error of HTTP', get('a.later.test A +edns'), [
        'SERVFAIL rd',
        'edns: 1232',
        'ede: 14 no snapshot yet',
      ]),
    ],
  },
  {
    topic: 'redirects',
    cases: [
      {
        name: 'redirects from nowhere',
        check: async ({ send }) => {
          const paths = [
            '/',
            PATH,
            `/${PATH}`,
            PATH.replace('?', '/?'),
            '/resolve',
            '/t/x/dns-query',
          ]
          for (const path of paths) {
            for (const method of ['GET', 'POST', 'HEAD', 'OPTIONS']) {
              const { status, headers } = await send({ path, method })
              assert.ok(status < 300 || status >= 400, `${method} ${path}: ${status}`)
              assert.equal(headers.get('location'), null)
            }
          }
        },
      },
    ],
  },
  {
    topic: 'bodies of errors',
    cases: [
      {
        name: 'says little about errors, in JSON that no cache keeps, and nothing of the request',
        check: async ({ send }) => {
          const asks = [
            { path: '/%3Cscript%3E' },
            resolve('name=%3Cscript%3E..x'),
            resolve('name=a&type=%3Cscript%3E'),
            { path: '/dns-query?dns=%3Cscript%3E' },
            { path: PATH, method: 'PUT' },
            post(QUERY, { 'content-type': '<script>' }),
            { path: PATH, headers: { accept: '<script>' } },
          ]
          for (const ask of asks) {
            const got = await send(ask)
            assert.ok(got.status >= 400)
            checkAlways(got)
            assert.doesNotMatch(textOf(got), /<|script>|\bat .*:\d/)
          }
        },
      },
    ],
  },
]

/** The OPT record is the last of a query without options: its version stands before two flags. */
function withVersion(message: Uint8Array, version: number): Uint8Array {
  return message.with(message.length - 5, version)
}
