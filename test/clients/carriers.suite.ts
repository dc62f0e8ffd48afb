/**
 * Every way to carry a token, right and wrong, sent as bytes to the gateway on Node, on Bun and in
 * workerd: each runtime accepts the same requests. Run by `npm run test:clients`.
 * @module
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { createClusterKeys } from '../../src/exporter/cluster-keys.ts'
import { hashToken } from '../../src/gateway/access/token.ts'
import { block, type Field, FLAG, FRAME, frame, preface } from '../attack/http2-wire.ts'
import { query } from '../attack/wire.ts'
import { SERVER } from '../certificates.ts'
import { freePort } from '../free-port.ts'
import { type Gateways, startInWorkerd, startOnNode, TOKENS } from '../gateway/doh/item-gateways.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { BUN, missingRuntime } from '../runtimes.ts'

const RUN = join(import.meta.dirname, '../../src/cli/run.ts')
const GOOD = TOKENS.client
const PATH = `/dns-query?dns=${query({ id: 0, name: 'web.shop.test' }).toString('base64url')}`
const PATIENCE_MS = 10_000

type Carrier = { readonly path?: string; readonly fields?: readonly Field[] }

const base64 = (text: string): string => Buffer.from(text, 'latin1').toString('base64')
const header = (...values: readonly string[]): Carrier => {
  return { fields: values.map((value) => ['authorization', value] as const) }
}
const encoded = [...GOOD].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('')

/** Accepted: one valid token, in one place. */
const ALLOWED: Readonly<Record<string, Carrier>> = {
  Bearer: header(`Bearer ${GOOD}`),
  'Bearer in lower case': header(`bearer ${GOOD}`),
  'Basic, as the password': header(`Basic ${base64(`x:${GOOD}`)}`),
  'Basic, as the user': header(`Basic ${base64(`${GOOD}:`)}`),
  'Basic in capitals': header(`BASIC ${base64(`:${GOOD}`)}`),
  'Basic without a colon': header(`Basic ${base64(GOOD)}`),
  'in the path': { path: `/t/${GOOD}${PATH}` },
  'in the path, percent-encoded': { path: `/t/${encoded}${PATH}` },
  'in the path, and a wrong one in a header': { path: `/t/${GOOD}${PATH}`, ...header('Bearer x') },
}

/** Refused: anything else. */
const REFUSED: Readonly<Record<string, Carrier>> = {
  nothing: {},
  'two headers, right and wrong': header(`Bearer ${GOOD}`, 'Bearer wrong'),
  'two headers, wrong and right': header('Bearer wrong', `Bearer ${GOOD}`),
  'two headers, both right': header(`Bearer ${GOOD}`, `Bearer ${GOOD}`),
  'two headers, Bearer and Basic': header(`Bearer ${GOOD}`, `Basic ${base64(`x:${GOOD}`)}`),
  'two headers, one empty': header(`Bearer ${GOOD}`, ''),
  'a comma and another': header(`Bearer ${GOOD}, Bearer wrong`),
  'a comma behind': header(`Bearer ${GOOD},`),
  'a comma before': header(`,Bearer ${GOOD}`),
  'no scheme': header(GOOD),
  'another scheme': header(`Token ${GOOD}`),
  'no space': header(`Bearer${GOOD}`),
  'a colon': header(`Bearer: ${GOOD}`),
  quotes: header(`Bearer "${GOOD}"`),
  'a parameter': header(`Bearer token=${GOOD}`),
  'an empty token': header('Bearer '),
  'the scheme alone': header('Bearer'),
  'a token in capitals': header(`Bearer ${GOOD.toUpperCase()}`),
  'a token and more': header(`Bearer ${GOOD}x`),
  'a part of a token': header(`Bearer ${GOOD.slice(0, -1)}`),
  'a token twice': header(`Bearer ${GOOD} ${GOOD}`),
  'a token percent-encoded in the header': header(`Bearer ${encoded}`),
  'a token in base64': header(`Bearer ${base64(GOOD)}`),
  'a no-break space behind': header(`Bearer ${GOOD}\xa0`),
  'a zero-width space of UTF-8 behind': header(`Bearer ${GOOD}\xe2\x80\x8b`),
  'letters that look alike': header(`Bearer ${GOOD.replace('e', '\xd0\xb5')}`),
  'the operator': header(`Bearer ${TOKENS.admin}`),
  'the exporter': header(`Bearer ${TOKENS.exporter}`),
  'a token of 8,000 bytes': header(`Bearer ${'x'.repeat(8000)}`),
  'Basic with a wrong password': header(`Basic ${base64(`${GOOD}:wrong`)}`),
  'Basic without base64': header(`Basic x:${GOOD}`),
  'Basic with two colons': header(`Basic ${base64(`x:y:${GOOD}`)}`),
  'Basic of nothing': header('Basic '),
  'Basic of a colon': header(`Basic ${base64(':')}`),
  'a proxy header': { fields: [['proxy-authorization', `Bearer ${GOOD}`]] },
  'a forwarded header': { fields: [['x-forwarded-authorization', `Bearer ${GOOD}`]] },
  'an underscore': { fields: [['author_ization', `Bearer ${GOOD}`]] },
  'a cookie': { fields: [['cookie', `token=${GOOD}; authorization=Bearer ${GOOD}`]] },
  'a parameter of the URL': { path: `${PATH}&access_token=${GOOD}&token=${GOOD}` },
  'a wrong token in the path, a right one in a header': {
    path: `/t/wrong${PATH}`,
    ...header(`Bearer ${GOOD}`),
  },
  'an empty token in the path': { path: `/t/${PATH}` },
  'an empty token in the path, a right one in a header': {
    path: `/t/${PATH}`,
    ...header(`Bearer ${GOOD}`),
  },
  'two slashes before the path': { path: `//t/${GOOD}${PATH}` },
  'two slashes before the token': { path: `/t//${GOOD}${PATH}` },
  'two slashes behind the token': { path: `/t/${GOOD}/${PATH}` },
  'capitals in the path': { path: `/T/${GOOD}${PATH}` },
  'a token twice in the path': { path: `/t/${GOOD}/t/${GOOD}${PATH}` },
  'a slash behind the path': { path: `/t/${GOOD}${PATH.replace('?', '/?')}` },
  'two dots that leave /t/t/': { path: `/t/${GOOD}/../t/${GOOD}${PATH}` },
  'a backslash': { path: `/t\\${GOOD}${PATH}` },
  'an encoded slash': { path: `/t%2f${GOOD}${PATH}` },
  'an encoded slash behind the token': { path: `/t/${GOOD}%2f${PATH.slice(1)}` },
  'a token encoded twice': { path: `/t/${encoded.replaceAll('%', '%25')}${PATH}` },
  'a semicolon': { path: `/t/${GOOD};x${PATH}` },
  'a zero byte behind the token': { path: `/t/${GOOD}%00${PATH}` },
  'a broken escape': { path: `/t/${GOOD}%${PATH}` },
  'a user in an absolute URL': { path: `http://x:${GOOD}@localhost${PATH}` },
}

/** The URL parser removes dot segments before routing (RFC 3986 §5.2.4). */
const DOTS: Readonly<Record<string, Carrier>> = {
  'two dots between': { path: `/t/${GOOD}/../${GOOD}${PATH}` },
  'two dots between, and a wrong token first': { path: `/t/wrong/../${GOOD}${PATH}` },
  'a dot': { path: `/t/./${GOOD}${PATH}` },
  'an encoded dot': { path: `/t/%2e/${GOOD}${PATH}` },
  'encoded dots': { path: `/t/x/%2E%2e/${GOOD}${PATH}` },
  'a dot and a header': { path: `/.${PATH}`, ...header(`Bearer ${GOOD}`) },
}

/** Bun's server turns backslashes into slashes, as URL parsers do, before we see the path. */
const UNSEEN: Readonly<Record<string, string>> = { 'a backslash': 'Bun' }

type Way = {
  readonly name: string
  readonly port: number
  readonly isSecure: boolean
  readonly isHttp2?: boolean
}

const ways: Way[] = []
const started: Gateways[] = []
const running: Running[] = []
const folder = mkdtempSync(join(tmpdir(), 'kubedoh-carriers-'))

async function startOnBun(isSecure: boolean): Promise<number> {
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const port = await freePort()
  const conf = file('Corefile', '. {\n  kubernetes shop.test {\n    cluster shop\n  }\n}\n')
  const tls = ['--tls-cert', file('cert', SERVER.cert), '--tls-key', file('key', SERVER.key)]
  const args = ['gateway', '--conf', conf, '--listen', `127.0.0.1:${port}`, '--store', 'memory']
  const { publicKey, tokenSha256 } = await createClusterKeys()
  const gateway = start(BUN.command, [...BUN.args, RUN, ...args, ...(isSecure ? tls : [])], {
    CLUSTERS: JSON.stringify({ shop: { publicKey, tokenSha256 } }),
    CLIENT_TOKEN_SHA256: await hashToken(GOOD),
    REQUESTS_PER_MINUTE: '0',
  })
  running.push(gateway)
  await gateway.line(/^ready/)
  return port
}

beforeAll(async () => {
  const [node, workerd] = await Promise.all([startOnNode(), startInWorkerd()])
  started.push(node, workerd)
  const nodePort = node.ways[0]?.port('closed') ?? 0
  ways.push(
    { name: 'Node, HTTP/1.1', port: nodePort, isSecure: true },
    { name: 'Node, HTTP/2', port: nodePort, isSecure: true, isHttp2: true },
    { name: 'workerd', port: workerd.ways[0]?.port('closed') ?? 0, isSecure: false },
  )
  assert.equal(missingRuntime(BUN), false)
  const secure = await startOnBun(true)
  ways.push(
    { name: 'Bun, HTTP/1.1', port: await startOnBun(false), isSecure: false },
    { name: 'Bun, HTTP/1.1 over TLS', port: secure, isSecure: true },
    { name: 'Bun, HTTP/2', port: secure, isSecure: true, isHttp2: true },
  )
})
afterAll(async () => {
  for (const one of running) await one.stop()
  for (const one of started) await one.stop()
  rmSync(folder, { recursive: true })
})

for (const [name, carriers, isAllowed] of [
  ['one valid token', ALLOWED, true],
  ['anything else', REFUSED, false],
  ['dots in the path', DOTS, true],
] as const) {
  describe(`${isAllowed ? 'accepts' : 'refuses'} ${name}:`, () => {
    for (const [what, carrier] of Object.entries(carriers)) {
      it(what, async () => {
        const blind = UNSEEN[what]
        const seeing = ways.filter(({ name }) => blind === undefined || !name.startsWith(blind))
        const statuses = await Promise.all(
          seeing.map(async (way) => [way.name, await statusOf(way, carrier)] as const),
        )
        const wrong = statuses.filter(([, status]) => (status === 200) !== isAllowed)
        assert.deepEqual(wrong, [], `of ${JSON.stringify(statuses)}`)
        assert.ok(
          statuses.every(([, status]) => status < 500),
          JSON.stringify(statuses),
        )
      })
    }
  })
}

describe('HTTP/1.0 without a host', () => {
  it('gets a response or a 400', async () => {
    for (const way of ways.filter(({ isHttp2 = false }) => !isHttp2)) {
      const { status, body } = await rawStatus(way, `GET ${PATH} HTTP/1.0\r\n\r\n`)
      assert.ok([200, 400, 401].includes(status), `${way.name}: ${status} ${body}`)
    }
  })
})

async function rawStatus(
  { port, isSecure }: Way,
  request: string,
): Promise<{ readonly status: number; readonly body: string }> {
  const at = { host: '127.0.0.1', port }
  const socket = isSecure ? connectTls({ ...at, rejectUnauthorized: false }) : connect(at)
  socket.setTimeout(PATIENCE_MS, () => socket.destroy())
  socket.write(request)
  let received = Buffer.alloc(0)
  for await (const chunk of socket) received = Buffer.concat([received, Buffer.from(chunk)])
  return { status: http1Status(received) ?? 0, body: received.toString('latin1') }
}

/** Sends a request as bytes. Returns its status; 0 if the connection or stream ends. */
async function statusOf(
  { port, isSecure, isHttp2 = false }: Way,
  { path = PATH, fields = [] }: Carrier,
): Promise<number> {
  const at = { host: '127.0.0.1', port }
  const ALPNProtocols = [isHttp2 ? 'h2' : 'http/1.1']
  const socket: Socket = isSecure
    ? connectTls({ ...at, ALPNProtocols, rejectUnauthorized: false })
    : connect(at)
  const timer = setTimeout(() => socket.destroy(new Error('no answer')), PATIENCE_MS)
  try {
    socket.write(isHttp2 ? http2Request(path, fields) : http1Request(path, fields), 'latin1')
    let received = Buffer.alloc(0)
    for await (const chunk of socket) {
      received = Buffer.concat([received, Buffer.from(chunk)])
      const status = isHttp2 ? http2Status(received) : http1Status(received)
      if (status !== undefined) return status
    }
    return 0
  } finally {
    clearTimeout(timer)
    socket.destroy()
    if (!socket.closed) await once(socket, 'close')
  }
}

function http1Request(path: string, fields: readonly Field[]): Buffer {
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${lines}\r\n`, 'latin1')
}

function http1Status(received: Buffer): number | undefined {
  const [, status] = /^HTTP\/1\.[01] (\d{3}) /.exec(received.toString('latin1')) ?? []
  return status === undefined ? undefined : Number(status)
}

function http2Request(path: string, fields: readonly Field[]): Buffer {
  const pseudo: readonly Field[] = [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':authority', 'localhost'],
    [':path', path],
  ]
  const all = block([...pseudo, ...fields])
  return Buffer.concat([
    preface(),
    frame(FRAME.HEADERS, FLAG.END_STREAM | FLAG.END_HEADERS, 1, all),
  ])
}

/** Statuses in the static table (RFC 7541, appendix A), by index. */
const STATUSES = [200, 204, 206, 304, 400, 404, 500]

function http2Status(received: Buffer): number | undefined {
  for (let at = 0; at + 9 <= received.length; ) {
    const end = at + 9 + received.readUIntBE(at, 3)
    const type = received[at + 3]
    if (type === FRAME.RST_STREAM || type === FRAME.GOAWAY) return 0
    if (type === FRAME.HEADERS && end <= received.length)
      return blockStatus(received.subarray(at + 9, end))
    at = end
  }
  return undefined
}

/** The status is the first field: indexed, or a literal of three digits with an indexed name. */
function blockStatus(all: Buffer): number {
  // A table size update may come first (RFC 7541 §6.3).
  const bytes = ((all[0] ?? 0) & 0xe0) === 0x20 ? all.subarray(1) : all
  const first = bytes[0] ?? 0
  if ((first & 0x80) !== 0) return STATUSES[(first & 0x7f) - 8] ?? 0
  const size = bytes[1] ?? 0
  if ((size & 0x80) === 0) return Number(bytes.toString('latin1', 2, 2 + size))
  return huffmanDigits(bytes.subarray(2, 2 + (size & 0x7f)))
}

/** Decodes digits: 0 to 2 have codes of 5 bits, 3 to 9 of 6 (RFC 7541, appendix B). */
function huffmanDigits(bytes: Buffer): number {
  let bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  let digits = ''
  while (bits.length > 7 || bits.includes('0')) {
    const short = Number.parseInt(bits.slice(0, 5), 2)
    const isShort = short < 3
    digits += isShort ? short : Number.parseInt(bits.slice(0, 6), 2) - 0b011001 + 3
    bits = bits.slice(isShort ? 5 : 6)
  }
  return Number(digits)
}
