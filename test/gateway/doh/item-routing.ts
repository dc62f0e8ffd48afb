/**
 * Items of the protocol checklist about DNS over HTTPS: methods, media types and paths (RFC 8484
 * §3, §4, RFC 9110).
 * @module
 */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { decodeBase64url } from '../../../src/dns/bytes/base64url.ts'
import { formatReply } from '../../message-text.ts'
import { checkAlways, textOf } from './check-case.ts'
import {
  bearer,
  EDGE,
  get,
  type Item,
  JSON_FORM,
  messageOf,
  post,
  type RequestCase,
  WEB,
  WEB_JSON,
  WEB_LINES,
  WIRE,
} from './item-cases.ts'
import { exchange, TOKENS, type Way } from './item-gateways.ts'
import { pathOf } from './replies.ts'

const QUERY = messageOf(`${WEB} A`)
const PATH = pathOf(QUERY)
const ALLOW = 'GET, HEAD, POST'
const SHORT_EXAMPLE = 'AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB'
const LONG_EXAMPLE =
  'AAABAAABAAAAAAAAAWE-NjJjaGFyYWN0ZXJsYWJlbC1tYWtlcy1iYXNlNjR1cmwtZGlzdGluY3QtZnJvbS1z' +
  'dGFuZGFyZC1iYXNlNjQHZXhhbXBsZQNjb20AAAEAAQ'

const accept = (
  header: string,
  path = PATH,
): { path: string; headers: Record<string, string> } => ({
  path,
  headers: { accept: header },
})
const typed = (type: string): ReturnType<typeof post> => post(QUERY, { 'content-type': type })
const wire = (name: string, ask: Partial<RequestCase> & { path: string }): RequestCase => ({
  status: 200,
  answer: WEB_LINES,
  ...ask,
  name,
})
const bad = (name: string, path: string, status = 400): RequestCase => ({ name, path, status })

/** Methods, media types, paths. */
export const ROUTING: readonly Item[] = [
  {
    topic: 'GET and POST',
    cases: [
      wire('answers a GET', { path: PATH }),
      wire('answers a POST', post(QUERY)),
      {
        name: 'gives both the same bytes',
        check: async ({ send }) => {
          for (const words of ['A', 'TXT', 'A +edns +id=4711', 'A +padding', 'ANY']) {
            const message = messageOf(`${WEB} ${words}`)
            const [one, other] = [await send({ path: pathOf(message) }), await send(post(message))]
            assert.deepEqual(one.body, other.body)
          }
        },
      },
    ],
  },
  {
    topic: 'vectors of RFC 8484',
    cases: [
      {
        name: 'takes the 33 bytes of the example',
        path: `/dns-query?dns=${SHORT_EXAMPLE}`,
        status: 200,
        lines: ['REFUSED rd'],
        bytes: 33,
        has: { 'content-length': '33' },
      },
      {
        name: 'takes the 94 bytes of the example',
        path: `/dns-query?dns=${LONG_EXAMPLE}`,
        status: 200,
        lines: ['REFUSED rd'],
        bytes: 94,
      },
      {
        name: 'takes the 33 bytes by POST',
        ...post(decodeBase64url(SHORT_EXAMPLE) ?? assert.fail()),
        status: 200,
        lines: ['REFUSED rd'],
        bytes: 33,
      },
    ],
  },
  {
    topic: 'content type of responses',
    cases: [wire('names the type, and no charset', { path: PATH, has: { 'content-type': WIRE } })],
  },
  {
    topic: 'content type of POST',
    cases: [
      wire(
        'reads the type in any letters, without its parameters',
        typed('Application/DNS-Message; x=y'),
      ),
      wire('does not mind the type of a GET', { path: PATH, headers: { 'content-type': WIRE } }),
      {
        name: 'refuses another',
        ...typed('text/plain'),
        status: 415,
        code: 'unsupported_media_type',
      },
      { name: 'refuses none', method: 'POST', path: '/dns-query', body: QUERY, status: 415 },
    ],
  },
  {
    topic: 'Accept',
    cases: [
      ...[
        '*/*',
        'application/*',
        WIRE,
        `text/html, ${WIRE};q=0.1`,
        `${JSON_FORM};q=0.5, ${WIRE}`,
      ].map((header) => wire(`a message for ${header}`, accept(header))),
      wire('a message for no header', { path: PATH, headers: {} }),
      ...[JSON_FORM, `${WIRE};q=0.5, ${JSON_FORM}`, `${WIRE};q=0, ${JSON_FORM}`].map((header) => ({
        name: `JSON for ${header}`,
        ...accept(header),
        status: 200,
        json: WEB_JSON,
        has: { 'content-type': JSON_FORM },
      })),
      ...['text/html', `${WIRE};q=0`, '*/*;q=0', 'image/png, text/*'].map((header) => ({
        name: `nothing for ${header}`,
        ...accept(header),
        status: 406,
        code: 'not_acceptable',
      })),
      {
        name: 'no more than curl has room for, where somebody posts as it does',
        check: async ({ send }) => {
          const sizeOf = async (words: string, type: string): Promise<number> => {
            const message = messageOf(`huge.shop.svc.shop.test AAAA${words}`)
            const { status, body } = await send(post(message, { accept: type }))
            const [head = '', ...lines] = formatReply(body)
            assert.equal(status, 200)
            assert.match(head, /^NOERROR aa tc rd/)
            assert.ok(lines.every((line) => line.startsWith('huge.shop.svc.shop.test. 5 IN AAAA')))
            assert.ok(lines.length > 90)
            return body.length
          }
          const size = await sizeOf('', '*/*')
          assert.ok(size > 2970 && size < 3000, String(size))
          assert.ok((await sizeOf('', WIRE)) > 60_000)
        },
      },
    ],
  },
  {
    topic: 'unknown paths and methods',
    cases: [
      bad('there is no other path', '/dns', 404),
      ...['PUT', 'PATCH', 'DELETE', 'TRACE'].map((method) => ({
        name: `refuses ${method}`,
        method,
        path: PATH,
        status: 405,
        has: { allow: ALLOW },
      })),
      {
        name: 'opens no tunnel',
        not: { 'Node, HTTP/2': 'a CONNECT of HTTP/2 has no path (RFC 9113 §8.5)', workerd: EDGE },
        check: async ({ sendRaw }) => {
          const text = await sendRaw('CONNECT /dns-query HTTP/1.1\r\nHost: localhost\r\n\r\n')
          assert.doesNotMatch(text, /^HTTP\/1\.1 2/)
        },
      },
    ],
  },
  {
    topic: 'HEAD and OPTIONS',
    cases: [
      ...[PATH, `/resolve?name=${WEB}`].map((path) => ({
        name: `HEAD is GET without the body: ${path.slice(0, 10)}`,
        check: ({ send }: Way) => checkHead(send, path),
      })),
      {
        name: 'lists its methods',
        method: 'OPTIONS',
        path: '/dns-query',
        status: 204,
        has: { allow: `${ALLOW}, OPTIONS`, 'access-control-allow-origin': undefined },
      },
    ],
  },
  {
    topic: 'the URI template',
    cases: [
      wire('follows the template, whatever else it has', { path: `${PATH}&other=1` }),
      bad('is not twice below the root', `/${PATH}`, 404),
      bad('has no final slash', PATH.replace('?', '/?'), 404),
      bad('has no capitals', PATH.replace('dns-query', 'DNS-Query'), 404),
      bad('has nothing below', PATH.replace('?', '/x?'), 404),
    ],
  },
  {
    topic: 'several templates',
    cases: [
      wire('with a token, by the path', { to: 'closed', path: `/t/${TOKENS.client}${PATH}` }),
      wire('with a token, by a header', {
        to: 'closed',
        ...get(`${WEB} A`, bearer(TOKENS.client)),
      }),
    ],
  },
  {
    topic: 'plain HTTP',
    cases: [
      {
        name: 'answers nothing in the clear',
        check: async ({ name, send, port }) => {
          if (name === 'workerd') {
            const headers = { host: 'dns.example.org' }
            for (const more of [{ 'cf-ray': '0' }, { 'x-forwarded-proto': 'http' }]) {
              const got = await send({ path: PATH, headers: { ...headers, ...more } })
              checkAlways(got)
              const { error } = JSON.parse(textOf(got))
              assert.deepEqual([got.status, error.code], [403, 'https_only'])
            }
            // Behind a proxy that ends TLS on the same machine.
            assert.equal((await send({ path: PATH, headers })).status, 200)
            return
          }
          const head = `GET ${PATH} HTTP/1.1\r\nHost: localhost\r\n\r\n`
          const socket = connect({ port: port('open'), host: '127.0.0.1' })
          assert.doesNotMatch(await exchange(socket, head), /^HTTP/)
        },
      },
    ],
  },
  {
    topic: 'other DNS media types',
    cases: ['application/oblivious-dns-message', 'application/dns-udpwireformat'].map((type) => ({
      name: `refuses ${type}`,
      ...typed(type),
      status: 415,
    })),
  },
]

async function checkHead(send: Way['send'], path: string): Promise<void> {
  const [whole, head] = [await send({ path }), await send({ path, method: 'HEAD' })]
  for (const { headers } of [whole, head]) {
    // What the clock and the connection change.
    const passing = ['date', 'connection', 'keep-alive', 'kubedoh-snapshot-age']
    for (const name of passing) headers.delete(name)
  }
  assert.equal(head.status, 200)
  assert.deepEqual([...head.headers], [...whole.headers])
  assert.deepEqual([head.body.length, whole.body.length > 0], [0, true])
}
