/**
 * Items of the protocol checklist about who may ask, how much, and what pages of the web may do.
 * @module
 */
import assert from 'node:assert/strict'
import { formatReply } from '../../message-text.ts'
import { checkAlways, textOf } from './check-case.ts'
import {
  bearer,
  EDGE,
  get,
  type Item,
  messageOf,
  type RequestCase,
  WEB,
  WEB_LINES,
} from './item-cases.ts'
import { TOKENS, type Way } from './item-gateways.ts'
import { type Ask, type Got, pathOf } from './replies.ts'

const PATH = pathOf(messageOf(`${WEB} A`))
const HTTP1 = { 'Node, HTTP/2': 'it is about HTTP/1.1', workerd: EDGE }
const BASIC = `Basic ${Buffer.from(`x:${TOKENS.client}`).toString('base64')}`
const BASIC_USER = `Basic ${Buffer.from(`${TOKENS.client}:`).toString('base64')}`
const asked = (name: string, ask: Partial<Ask>, status: number): RequestCase => ({
  name,
  to: 'closed',
  path: PATH,
  ...ask,
  status,
  ...(status === 200 && { answer: WEB_LINES }),
})

/** Who may ask. */
export const ACCESS: readonly Item[] = [
  {
    topic: 'closed by default',
    cases: [
      asked('nobody without a token', {}, 401),
      asked('who has one: Bearer', { headers: bearer(TOKENS.client) }, 200),
      asked('Basic, as the password', { headers: { authorization: BASIC } }, 200),
      asked('Basic, as the name', { headers: { authorization: BASIC_USER } }, 200),
      asked('in the path', { path: `/t/${TOKENS.client}${PATH}` }, 200),
      asked('not as a parameter', { path: `${PATH}&access_token=${TOKENS.client}` }, 401),
      asked('not as a cookie', { headers: { cookie: `token=${TOKENS.client}` } }, 401),
      asked('not the exporter', { headers: bearer(TOKENS.exporter) }, 401),
    ],
    untested: 'certificates and Cloudflare Access: test/server/gateway and test/gateway have them',
  },
  {
    topic: 'client tokens',
    cases: [
      {
        name: 'a wrong token is as none, byte for byte',
        check: async ({ send }) => {
          const none = await send({ path: PATH }, 'closed')
          const wrong = [
            { path: PATH, headers: bearer('x') },
            { path: PATH, headers: bearer(`kdt_000000000000_${'A'.repeat(43)}`) },
            { path: PATH, headers: { authorization: 'Basic eDp5' } },
            { path: `/t/x${PATH}` },
          ]
          for (const ask of wrong)
            assert.deepEqual(comparable(await send(ask, 'closed')), comparable(none))
        },
      },
      {
        name: 'two secrets hold at once, and a revoked token none',
        check: async ({ send }) => {
          const one = await makeToken(send, {})
          const status = async (token: string): Promise<number> =>
            (await send({ path: PATH, headers: bearer(token) }, 'closed')).status
          const path = `/v1/tokens/${one.id}`
          const admin = bearer(TOKENS.admin)
          await until(async () => (await status(one.token)) === 200)
          const rotated = await send(
            { method: 'POST', path: `${path}/rotate`, headers: admin },
            'closed',
          )
          const { token } = JSON.parse(textOf(rotated))
          await until(async () => (await status(token)) === 200)
          assert.equal(await status(one.token), 200)
          const gone = await send({ method: 'DELETE', path, headers: admin }, 'closed')
          assert.equal(gone.status, 204)
          const startMs = Date.now()
          await until(async () => (await status(token)) === 401)
          assert.ok(Date.now() - startMs < 6000)
          assert.equal(await status(one.token), 401)
        },
      },
    ],
  },
  {
    topic: 'secrets in logs',
    cases: [
      {
        name: 'no token and no name of the query is logged',
        check: async ({ send, logs }) => {
          const secret = 'kdt_0123456789ab_secret'
          for (const ask of [
            { path: `/t/${secret}${PATH}` },
            { path: PATH, headers: bearer(secret) },
          ]) {
            const got = await send(ask, 'closed')
            assert.equal(got.headers.get('referrer-policy'), 'no-referrer')
            assert.doesNotMatch(textOf(got), /secret/)
          }
          await send(get('private-name.later.test A'))
          const metrics = await send({ path: '/metrics', headers: bearer(TOKENS.exporter) })
          assert.equal(metrics.status, 200)
          assert.doesNotMatch(
            `${logs.join('\n')}${textOf(metrics)}`,
            /secret|private-name|the-reader/,
          )
        },
      },
    ],
  },
  {
    topic: 'forged headers',
    cases: [
      {
        name: 'no route, method, header or spelling goes round the token',
        check: async ({ send, name }) => {
          const query = PATH.slice('/dns-query'.length)
          const routes = [
            '/dns-query',
            '/resolve',
            '/t//dns-query',
            '/t/x/resolve',
            '/dns-query/',
            '/DNS-QUERY',
          ]
          const spelt = [
            '/%64ns-query',
            '/dns-query%2f',
            '/%2e/dns-query',
            '/x/../dns-query',
            '//dns-query',
          ]
          const others = [
            '/v1/clusters/shop',
            '/v1/tokens',
            '/v1/explain',
            '/v1/conflicts',
            '/metrics',
            '/readyz',
          ]
          const headers = [
            {},
            { 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'https' },
            { 'cf-access-jwt-assertion': 'e30.e30.e30', 'cf-access-client-id': 'x' },
            { 'cf-connecting-ip': '127.0.0.1', 'x-client-cert': 'x', 'x-original-url': '/' },
            { 'x-http-method-override': 'OPTIONS', authorization: 'Bearer ' },
          ]
          for (const path of [...routes, ...spelt, ...others]) {
            for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE']) {
              for (const one of name === 'Node, HTTP/2' ? headers.slice(0, 4) : headers) {
                const { status } = await send(
                  { path: `${path}${query}&name=${WEB}`, method, headers: one },
                  'closed',
                )
                assert.ok([401, 404, 405].includes(status), `${method} ${path}: ${status}`)
              }
            }
          }
        },
      },
    ],
  },
  {
    topic: 'other clusters',
    cases: [
      {
        name: "another cluster's names are as names of nobody, byte for byte",
        check: async ({ send }) => {
          const { token } = await makeToken(send, { clusters: ['later'] })
          const ask = (name: string): Promise<Got> =>
            send(get(`${name} A +edns`, bearer(token)), 'closed')
          await until(async () => (await ask(WEB)).status === 200)
          const [hidden, absent] = [
            await ask(WEB),
            await ask(WEB.replace('shop.test', 'shxx.test')),
          ]
          assert.deepEqual(formatReply(hidden.body), ['REFUSED rd', 'edns: 1232', 'ede: 20'])
          assert.deepEqual(
            comparable({ ...hidden, body: tailOf(hidden) }),
            comparable({ ...absent, body: tailOf(absent) }),
          )
        },
      },
    ],
  },
]

/** How much, and what goes round HTTP. */
export const ABUSE: readonly Item[] = [
  {
    topic: 'rate limits',
    cases: [
      {
        name: 'a client over its rate waits',
        check: async ({ send }) => {
          const statuses = []
          for (let i = 0; i < 4; i++) statuses.push((await send({ path: PATH }, 'narrow')).status)
          assert.equal(statuses.at(-1), 429)
        },
      },
    ],
  },
  {
    topic: 'request smuggling',
    cases: [
      ...smuggled('two lengths', 'Content-Length: 1\r\nContent-Length: 2\r\n'),
      ...smuggled('a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n'),
      ...smuggled('a header on two lines', 'X-A: b\r\n c\r\n'),
      ...smuggled('a header with NUL', 'X-A: b\0c\r\n'),
      ...smuggled('a blank before the colon', 'X-A : b\r\n'),
      ...smuggled('an end of line alone', 'X-A: b\nX-B: c\r\n'),
      ...smuggled('chunks and chunks', 'Transfer-Encoding: chunked, identity\r\n'),
    ],
  },
  {
    topic: 'slow clients',
    cases: [],
    untested:
      'slow requests: test/server/http/http-server.test.ts ends them, with bounds that are shorter',
  },
  {
    topic: 'cache poisoning',
    cases: [
      {
        name: 'nothing but the URL, Accept and the token changes an answer',
        check: async ({ send, name }) => {
          const plain = await send({ path: PATH })
          const host = name === 'workerd' ? 'localhost' : 'evil.test'
          const more = { 'x-forwarded-host': 'evil.test', cookie: 'a=b', 'accept-language': 'de' }
          const spoilt = await send({
            path: PATH,
            headers: { ...more, ...(name !== 'Node, HTTP/2' && { host }) },
          })
          assert.deepEqual(comparable(spoilt), comparable(plain))
        },
      },
      ...['/dns-query/x.css', '/dns-query;x.css', '/resolve/x.js', '/dns-query.css'].map(
        (path) => ({
          name: `there is no ${path}`,
          path: `${path}?name=${WEB}`,
          status: 404,
        }),
      ),
    ],
  },
  {
    topic: 'CORS',
    cases: [
      {
        name: 'no page may read answers',
        ...get(`${WEB} A`, { origin: 'https://app.test' }),
        status: 200,
        has: {
          'access-control-allow-origin': undefined,
          'cross-origin-resource-policy': 'same-origin',
        },
      },
      {
        name: 'but those that are named',
        check: async ({ send }) => {
          for (const [origin, allowed] of [
            ['https://app.test', 'https://app.test'],
            ['https://evil.test', null],
          ] as const) {
            const { headers } = await send(get(`${WEB} A`, { origin }), 'pages')
            assert.equal(headers.get('access-control-allow-origin'), allowed)
            assert.match(headers.get('vary') ?? '', /\bOrigin\b/i)
            assert.match(headers.get('vary') ?? '', /\bAccept\b/i)
            assert.equal(headers.get('access-control-allow-credentials'), null)
          }
        },
      },
    ],
    untested:
      'requests that a page of another site has certificates go with: test/gateway/access/caller.test.ts',
  },
  {
    topic: 'DNS rebinding',
    cases: [
      {
        name: 'a page that has our address for its own name learns nothing without a token',
        check: async ({ send, name }) => {
          const headers = name === 'Node, HTTP/1.1' ? { host: 'evil.test' } : {}
          for (const path of ['/metrics', '/readyz', '/v1/tokens', '/v1/clusters/shop', PATH]) {
            assert.equal((await send({ path, headers }, 'closed')).status, 401)
          }
        },
      },
    ],
  },
  {
    topic: 'indexing',
    cases: [
      {
        name: 'the page for people is in no index, and runs only its own script',
        check: async ({ send }) => {
          const { headers, body } = await send({ path: '/' })
          assert.equal(headers.get('x-robots-tag'), 'noindex')
          const policy = headers.get('content-security-policy') ?? ''
          assert.match(policy, /default-src 'none'/)
          assert.doesNotMatch(policy, /unsafe|https?:|\*/)
          const scripts = new TextDecoder().decode(body).match(/<script/g)
          assert.equal(scripts?.length, 1)
        },
      },
    ],
  },
  {
    topic: 'enumeration',
    cases: [
      lines('no transfer', 'shop.test AXFR', ['REFUSED rd']),
      lines('no version', 'version.bind CH TXT', ['REFUSED rd']),
      lines('no wildcards', '*.shop.svc.shop.test A', [
        'NXDOMAIN aa rd',
        'authority: shop.test. 5 IN SOA ns.dns.shop.test. hostmaster.shop.test. 1 7200 1800 86400 5',
      ]),
      lines('little for ANY', `${WEB} ANY`, [
        'NOERROR aa rd',
        'authority: shop.test. 5 IN SOA ns.dns.shop.test. hostmaster.shop.test. 1 7200 1800 86400 5',
      ]),
    ],
  },
  {
    topic: 'privacy',
    cases: [
      {
        name: 'no cookies, and no name in the log',
        check: async ({ send, logs }) => {
          const got = await send(get('personal.shop.svc.shop.test A'))
          checkAlways(got)
          assert.doesNotMatch(logs.join('\n'), /personal/)
        },
      },
    ],
  },
  {
    topic: 'dependencies',
    cases: [],
    untested: 'what packages are used: package-lock.json, and npm audit',
  },
]

function lines(name: string, question: string, reply: readonly string[]): RequestCase {
  return { name, ...get(question), status: 200, lines: reply }
}

function smuggled(name: string, header: string): Item['cases'] {
  return [
    {
      name: `refuses ${name}`,
      not: HTTP1,
      check: async ({ sendRaw }) => {
        const head = `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\n`
        const text = await sendRaw(`${head}${header}\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n`)
        assert.match(text, /^HTTP\/1\.1 400 /)
        assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 1)
      },
    },
  ]
}

/** What of a response may be compared: not the clock's, nor the connection's. */
function comparable({ status, headers, body }: Got): unknown {
  const own = ['date', 'connection', 'keep-alive', 'kubedoh-snapshot-age', 'transfer-encoding']
  return { status, body, headers: [...headers].filter(([name]) => !own.includes(name)) }
}

/** A reply behind its question. */
function tailOf({ body }: Got): Uint8Array {
  return body.slice(12 + WEB.length + 6)
}

/** Creates a token of the closed gateway. */
export async function makeToken(
  send: Way['send'],
  wish: Readonly<Record<string, unknown>>,
): Promise<{ readonly id: string; readonly token: string }> {
  const body = new TextEncoder().encode(JSON.stringify(wish))
  const headers = bearer(TOKENS.admin)
  const made = await send({ method: 'POST', path: '/v1/tokens', body, headers }, 'closed')
  assert.equal(made.status, 201)
  return JSON.parse(textOf(made))
}

/** Asks again and again; the runner's time limit ends it. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 100))
}
