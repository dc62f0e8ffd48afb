/**
 * Items of the protocol checklist about DNS over HTTPS: how messages arrive (RFC 8484 §4.1, §6).
 * @module
 */
import assert from 'node:assert/strict'
import { readUint16 } from '../../../src/dns/bytes/bytes.ts'
import { RCODE } from '../../../src/dns/names/rcode.ts'
import { parseResponse } from '../../../src/dns/wire/message.ts'
import { textOf } from './check-case.ts'
import {
  EDGE,
  get,
  getByteRange,
  type Item,
  messageOf,
  post,
  type RequestCase,
  resolve,
  WEB,
  WEB_LINES,
  WIRE,
  withByte,
} from './item-cases.ts'
import { pathOf } from './replies.ts'

const QUERY = messageOf(`${WEB} A`)
const PATH = pathOf(QUERY)

const bad = (name: string, path: string, status = 400): RequestCase => ({ name, path, status })

/** Decoding. */
export const DECODING: readonly Item[] = [
  {
    topic: 'the dns parameter',
    cases: [
      bad('wants a message', '/dns-query'),
      bad('wants more than none', '/dns-query?dns='),
      bad('wants one', `${PATH}&dns=AAAA`),
      bad('wants no name beside it', `${PATH}&name=a.test`),
    ],
  },
  {
    topic: 'base64url',
    cases: [
      ...['=', '%3D', '+', '%2B', '/', '%20', '%0a', '%00', '%C3%A4'].map((text) =>
        bad(`takes no ${text}`, `${PATH}${text}`),
      ),
      bad('takes no five characters', '/dns-query?dns=AAAAA'),
      bad('takes no bits after the last byte', '/dns-query?dns=AB'),
      {
        name: 'gives 400 texts the verdicts of RFC 4648 §5 without padding',
        check: async ({ send }) => {
          for (const text of textsLikeBase64url(400)) {
            const { status } = await send({ path: `/dns-query?dns=${encodeURIComponent(text)}` })
            assert.equal(status === 200, isLongBase64url(text), `"${text}": ${status}`)
          }
        },
      },
    ],
  },
  {
    topic: 'malformed messages',
    cases: [
      {
        name: 'refuses 11 bytes',
        ...getByteRange(QUERY.subarray(0, 11)),
        status: 400,
        code: 'bad_message',
      },
      { name: 'refuses a response', ...getByteRange(withByte(QUERY, 2, 0x80)), status: 400 },
      {
        name: 'answers a broken message by FORMERR',
        ...getByteRange(QUERY.subarray(0, 20)),
        status: 200,
        rcode: RCODE.FORMERR,
        has: { 'cache-control': 'no-store, no-transform' },
      },
      {
        name: 'answers two questions by FORMERR',
        ...getByteRange(withByte(QUERY, 5, 2)),
        status: 200,
        rcode: RCODE.FORMERR,
      },
      {
        name: 'answers any bytes after a header',
        check: async ({ send }) => {
          for (let i = 0; i < 200; i++) {
            const message = Uint8Array.from(
              { length: 12 + (i % 40) },
              (_, k) => (i * 31 + k * k * 7) & 255,
            )
            message[2] = (message[2] ?? 0) & 0x7f
            const { status, body } = await send(post(message))
            assert.equal(status, 200)
            assert.deepEqual(body.subarray(0, 2), message.subarray(0, 2))
          }
        },
      },
    ],
  },
  {
    topic: 'size of POST bodies',
    cases: [
      { name: 'takes 65,535 bytes', ...post(longQuery(65_535)), status: 200, answer: WEB_LINES },
      { name: 'refuses 65,536', ...post(longQuery(65_536)), status: 413, code: 'body_too_large' },
      { name: 'refuses none', ...post(new Uint8Array(0)), status: 400 },
      {
        name: 'refuses a body without end before it ends',
        not: {
          'Node, HTTP/2': 'the same is asked over HTTP/1.1; a stream that is too long is reset',
        },
        check: async ({ sendRaw, send }) => {
          const head = `POST /dns-query HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${WIRE}\r\n`
          const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
          const text = await sendRaw(
            `${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(32)}`,
          )
          assert.match(text, /^HTTP\/1\.1 413 /)
          assert.equal((await send({ path: PATH })).status, 200)
        },
      },
    ],
  },
  {
    topic: 'length of URLs',
    cases: [
      {
        name: 'refuses a parameter that no message needs, and continues',
        check: async ({ send, name }) => {
          const long = send({ path: `/dns-query?dns=${'A'.repeat(87_384)}` })
          const expected = name === 'workerd' ? 414 : 431
          // Node ends the connection, or the stream, before there is a request.
          const status = await long.then((got) => got.status).catch(() => 431)
          assert.equal(status, expected)
          assert.equal((await send({ path: PATH })).status, 200)
        },
      },
      {
        name: 'refuses a header section over 16 KiB, and continues',
        not: { 'Node, HTTP/2': 'HTTP/2 has a bound of 64 KiB there', workerd: EDGE },
        check: async ({ send }) => {
          assert.equal((await send({ path: `/${'x'.repeat(20_000)}` })).status, 431)
          assert.equal((await send({ path: PATH })).status, 200)
        },
      },
    ],
  },
  {
    topic: 'Content-Encoding of POST',
    cases: [
      {
        name: 'refuses an encoded body',
        ...post(QUERY, { 'content-encoding': 'gzip' }),
        status: 415,
      },
      {
        name: 'says that a client may continue',
        not: { 'Node, HTTP/2': 'HTTP/2 has no such wait', workerd: EDGE },
        check: async ({ sendRaw }) => {
          const head = `POST /dns-query HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${WIRE}\r\n`
          const rest = `Connection: close\r\nContent-Length: ${QUERY.length}\r\nExpect: 100-continue\r\n\r\n`
          const text = await sendRaw(`${head}${rest}${Buffer.from(QUERY).toString('latin1')}`)
          assert.match(text, /^HTTP\/1\.1 100 Continue\r\n[\s\S]*HTTP\/1\.1 200 OK\r\n/)
        },
      },
    ],
  },
  {
    topic: 'EDNS payload size',
    cases: [
      {
        name: 'gives all of a hundred addresses to a client that has room for 512 bytes by UDP',
        check: async ({ send }) => {
          const { body } = await send(get('many.shop.svc.shop.test A +edns=512'))
          assert.equal(parseResponse(body)?.answer.length, 100)
          assert.equal(readUint16(body, 2) & 0x0200, 0)
          const json = await send(resolve('name=many.shop.svc.shop.test'))
          const { TC, Answer } = JSON.parse(textOf(json))
          assert.deepEqual([TC, Answer.length], [false, 100])
        },
      },
    ],
  },
  {
    topic: 'message IDs',
    cases: [
      {
        name: 'gives each of a hundred concurrent queries its ID and question back',
        check: async ({ send }) => {
          const asked = Array.from({ length: 100 }, (_, i) =>
            messageOf(`${i % 2 === 0 ? WEB : WEB.toUpperCase()} A +id=${i * 655}`),
          )
          const got = await Promise.all(asked.map((message) => send({ path: pathOf(message) })))
          got.forEach(({ body }, i) => {
            const message = asked[i] ?? assert.fail()
            assert.equal(readUint16(body, 0), i * 655)
            assert.deepEqual(body.subarray(12, message.length), message.subarray(12))
          })
        },
      },
    ],
  },
  {
    topic: 'zone transfers',
    cases: ['AXFR', 'IXFR'].map((type) => ({
      name: `refuses ${type}`,
      ...get(`shop.test ${type}`),
      status: 200,
      lines: ['REFUSED rd'],
    })),
  },
]

/** A query with bytes behind it, which are ignored. */
function longQuery(size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  bytes.set(QUERY)
  return bytes
}

/** What is base64url without padding, or nearly so, by a fixed sequence. */
function textsLikeBase64url(count: number): string[] {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  let state = 1
  const below = (n: number): number => {
    state = (state * 48_271) % 0x7fffffff
    return state % n
  }
  return Array.from({ length: count }, () => {
    const size = 16 + below(20)
    const text = Array.from({ length: size }, (_, i) => (i < 4 ? 'A' : letters[below(64)])).join('')
    if (below(3) > 0) return text
    const at = below(size)
    return `${text.slice(0, at)}${'+/= .,~$!"\t\u00e9\0'[below(14)]}${text.slice(at)}`
  })
}

/** The rule itself: its letters, no group of one, no bits behind the last byte. */
function isLongBase64url(text: string): boolean {
  if (!/^[\w-]+$/.test(text) || text.length % 4 === 1) return false
  return Buffer.from(text, 'base64url').toString('base64url') === text
}
