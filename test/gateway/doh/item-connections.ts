/**
 * Items of the protocol checklist about connections (RFC 9112, RFC 9113).
 * @module
 */
import assert from 'node:assert/strict'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect as connectTls } from 'node:tls'
import { AUTHORITY } from '../../certificates.ts'
import { formatReply } from '../../message-text.ts'
import { EDGE, get, type Item, messageOf, type RuleCase, WEB, WEB_LINES } from './item-cases.ts'
import type { Way } from './item-gateways.ts'
import { pathOf } from './replies.ts'

const PATH = pathOf(messageOf(`${WEB} A`))
const AT_EDGE = { 'Node, HTTP/1.1': 'it is about HTTP/2', workerd: EDGE }

/** Checks that a gateway goes on. */
async function checkAlive({ send }: Way): Promise<void> {
  const { body } = await send({ path: PATH })
  assert.deepEqual(formatReply(body).slice(1), WEB_LINES)
}

const flood = (name: string, frames: () => readonly Buffer[]): RuleCase => ({
  name,
  not: AT_EDGE,
  check: async (way) => {
    const options = { port: way.port('open'), host: '127.0.0.1', ca: AUTHORITY }
    const socket = connectTls({ ...options, ALPNProtocols: ['h2'] })
    socket.on('error', () => undefined)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await new Promise((resolve) => socket.once('secureConnect', resolve))
    socket.resume()
    socket.write(Buffer.concat([PREFACE, frame(4, 0, 0), ...frames()]))
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 300))])
    await checkAlive(way)
    socket.destroy()
  },
})

/** Connections. */
export const CONNECTIONS: readonly Item[] = [
  {
    topic: 'versions of HTTP',
    cases: [
      {
        name: 'speaks HTTP/2 with a client that can, and else HTTP/1.1',
        not: { workerd: EDGE },
        check: async ({ port }) => {
          const options = { port: port('open'), host: '127.0.0.1', ca: AUTHORITY }
          for (const [offered, spoken] of [
            [['h2', 'http/1.1'], 'h2'],
            [['http/1.1'], 'http/1.1'],
          ] as const) {
            const socket = connectTls({ ...options, ALPNProtocols: [...offered] })
            await new Promise((resolve) => socket.once('secureConnect', resolve))
            assert.equal(socket.alpnProtocol, spoken)
            socket.destroy()
          }
        },
      },
      {
        name: 'answers a hundred streams of one connection at once',
        not: AT_EDGE,
        check: async ({ port }) => {
          const session = connectHttp2(`https://127.0.0.1:${port('open')}`, { ca: AUTHORITY })
          const statuses = await Promise.all(Array.from({ length: 100 }, () => statusOf(session)))
          session.destroy()
          assert.deepEqual(new Set(statuses), new Set([200]))
        },
      },
      {
        name: 'answers one request after the other on a connection',
        not: { 'Node, HTTP/2': 'it is about HTTP/1.1' },
        check: async ({ sendRaw }) => {
          const request = (last: string): string =>
            `GET ${PATH} HTTP/1.1\r\nHost: localhost\r\n${last}\r\n`
          const text = await sendRaw(request('').repeat(3) + request('Connection: close\r\n'))
          assert.equal(text.match(/HTTP\/1\.1 200 OK/g)?.length, 4)
        },
      },
    ],
    untested: 'h2spec: test/clients/http2.suite.ts asks all its cases',
  },
  {
    topic: 'floods and slow bodies',
    cases: [
      flood('survives streams that are begun and taken back', () =>
        Array.from({ length: 2000 }, (_, i) => 2 * i + 1).flatMap((stream) => [
          frame(1, 5, stream, HEADERS),
          frame(3, 0, stream, Buffer.of(0, 0, 0, 8)),
        ]),
      ),
      flood('survives headers without end', () => [
        frame(1, 1, 1, HEADERS),
        ...Array.from({ length: 500 }, () => frame(9, 0, 1, FILLER)),
      ]),
      {
        name: 'refuses two thousand headers',
        not: { 'Node, HTTP/2': 'see the flood of them', workerd: EDGE },
        check: async (way) => {
          const lines = Array.from({ length: 2000 }, (_, i) => `x-${i}: 1234567890\r\n`).join('')
          const text = await way.sendRaw(`GET ${PATH} HTTP/1.1\r\nHost: localhost\r\n${lines}\r\n`)
          assert.match(text, /^HTTP\/1\.1 431 /)
          await checkAlive(way)
        },
      },
    ],
  },
  {
    topic: 'HTTP/3 and server push',
    cases: [
      {
        name: 'names no other service, and pushes nothing',
        ...get(`${WEB} A`),
        status: 200,
        has: { 'alt-svc': undefined, link: undefined },
      },
    ],
    untested: "HTTP/3 is Cloudflare's edge's; Node has none",
  },
  {
    topic: 'TLS',
    cases: [
      {
        name: 'shows a chain that ends at the authority, which is all that the client has',
        not: { workerd: EDGE },
        check: async ({ port }) => {
          const options = { port: port('open'), host: '127.0.0.1', ca: AUTHORITY }
          const socket = connectTls(options)
          await new Promise((resolve) => socket.once('secureConnect', resolve))
          assert.ok(socket.authorized)
          socket.destroy()
        },
      },
    ],
    untested: "that the gateway's own name is not one which only it knows is for who sets it up",
  },
]

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

function frame(
  type: number,
  flags: number,
  stream: number,
  body: Uint8Array = new Uint8Array(0),
): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(body.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, body])
}

/** A header that is not indexed (RFC 7541 §6.2.2); both texts under 127 bytes. */
function field(name: string, value: string): Buffer {
  const text = (words: string): Buffer => Buffer.from(String.fromCharCode(words.length) + words)
  return Buffer.concat([Buffer.of(0), text(name), text(value)])
}

const FILLER = field('x', 'y'.repeat(100))
const HEADERS = Buffer.concat([
  field(':method', 'GET'),
  field(':scheme', 'https'),
  field(':authority', 'localhost'),
  field(':path', PATH),
])

function statusOf(session: ClientHttp2Session): Promise<number> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': PATH })
    let status = 0
    stream.on('response', (headers) => {
      status = Number(headers[':status'])
    })
    stream.on('error', reject)
    stream.on('end', () => {
      resolve(status)
    })
    stream.resume()
  })
}
