/**
 * Listeners that read PROXY headers: TCP, TLS, HTTP and UDP.
 * @module
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type TLSSocket } from 'node:tls'
import { Hono } from 'hono'
import { describe, type TestContext, test, vi } from 'vitest'
import { ReplyWriter } from '../../src/dns/wire/reply-writer.ts'
import type { Client } from '../../src/resolver/contract/client.ts'
import type { ProxyHeaders, ProxyPolicy } from '../../src/resolver/contract/feature.ts'
import { remoteOf } from '../../src/server/http/http-request.ts'
import { HttpServer } from '../../src/server/http/http-server.ts'
import type { Answer } from '../../src/server/sockets/answer.ts'
import { ProxyDatagrams } from '../../src/server/sockets/proxy-datagrams.ts'
import { TcpServer } from '../../src/server/sockets/tcp-server.ts'
import { SERVER } from '../certificates.ts'
import { ENDS, KIND, LOCAL, v1, v2, withTlvs } from '../proxy-headers.ts'
import { frame, queryWith, TcpClient, within } from './clients.ts'

const TLS = { ...SERVER, clientAuth: 'nocert' } as const
const QUERY = frame(queryWith(1))

/** A server over TCP or TLS whose clients are noted. */
async function served(
  t: TestContext,
  policy: ProxyPolicy,
  tls?: typeof TLS,
): Promise<{ port: number; clients: string[]; refused: { count: number } }> {
  const clients: string[] = []
  const refused = { count: 0 }
  const answer: Answer = (message, { address, port, localAddress, localPort }) => {
    clients.push(port === 4711 ? `${address} ${port} ${localAddress} ${localPort}` : address)
    return message.slice()
  }
  const onRefused = (): void => void refused.count++
  const server = new TcpServer(() => answer, undefined, tls, { policyOf: () => policy, onRefused })
  t.onTestFinished(() => server.close())
  return { port: await server.listen('127.0.0.1', 0), clients, refused }
}

const IPV4 = '192.0.2.7 4711 198.51.100.1 53'
const PEER = '127.0.0.1'

describe('over TCP, the client', () => {
  const rows: { name: string; policy?: ProxyPolicy; sends: Uint8Array; is: string | undefined }[] =
    [
      { name: 'of version 1', sends: v1(), is: IPV4 },
      { name: 'of version 2', sends: v2(), is: IPV4 },
      {
        name: 'of IPv6',
        sends: v2({ kind: KIND.TCP6, body: ENDS.IPv6 }),
        is: '2001:db8::7 4711 2001:db8::1 53',
      },
      { name: 'of UDP', sends: v2({ kind: KIND.UDP4 }), is: IPV4 },
      { name: 'of many TLVs', sends: v2({ body: withTlvs(4084) }), is: IPV4 },
      { name: 'of TLVs without end', sends: v2({ length: 0xffff }), is: undefined },
      { name: 'of LOCAL', sends: v2({ command: LOCAL, kind: 0, body: Buffer.alloc(0) }), is: PEER },
      { name: 'of a Unix socket', sends: v2({ kind: KIND.STREAM, body: ENDS.UNIX }), is: PEER },
      { name: 'of UNKNOWN', sends: v1('UNKNOWN'), is: PEER },
      { name: 'of no family', sends: v2({ kind: KIND.UNSPEC }), is: undefined },
      { name: 'of a malformed header', sends: v1('TCP4 a b c d'), is: undefined },
      { name: 'of no header', sends: Buffer.alloc(0), is: PEER },
      {
        name: 'without a header that is required',
        policy: 'require',
        sends: Buffer.alloc(0),
        is: undefined,
      },
      { name: 'with a header that is required', policy: 'require', sends: v1(), is: IPV4 },
      { name: 'with a header that is ignored', policy: 'ignore', sends: v1(), is: PEER },
      {
        name: 'with a malformed header that is ignored',
        policy: 'ignore',
        sends: v1('x'),
        is: undefined,
      },
      { name: 'with a header that is rejected', policy: 'reject', sends: v1(), is: undefined },
      {
        name: 'without a header that is rejected',
        policy: 'reject',
        sends: Buffer.alloc(0),
        is: PEER,
      },
      {
        name: 'without a header that is skipped',
        policy: 'skip',
        sends: Buffer.alloc(0),
        is: PEER,
      },
    ]
  for (const { name, policy = 'use', sends, is } of rows) {
    test(name, async (t) => {
      const { port, clients, refused } = await served(t, policy)
      const client = await TcpClient.open(port)
      client.socket.write(Buffer.concat([sends, QUERY]))
      if (is === undefined) await within(client.closed, 'the end')
      else await client.messages(1)
      assert.deepEqual([clients, refused.count], is === undefined ? [[], 1] : [[is], 0])
      client.destroy()
    })
  }

  test('of a header in many packets, with several queries', async (t) => {
    const { port, clients } = await served(t, 'require')
    const client = await TcpClient.open(port)
    for (const byte of v2({ body: withTlvs(20) })) await client.send(Uint8Array.of(byte))
    client.socket.write(Buffer.concat([QUERY, QUERY]))
    await client.messages(2)
    client.socket.write(QUERY)
    await client.messages(3)
    assert.deepEqual(clients, [IPV4, IPV4, IPV4])
    client.destroy()
  })

  test('that half-closes its connection after a query', async (t) => {
    const { port, clients } = await served(t, 'use')
    const client = await TcpClient.open(port)
    client.socket.end(Buffer.concat([v1(), QUERY]))
    await client.messages(1)
    await within(client.closed, 'the end')
    assert.deepEqual(clients, [IPV4])
  })

  test('whose header never comes, or is cut at the end', async (t) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    t.onTestFinished(() => void vi.useRealTimers())
    const { port, clients, refused } = await served(t, 'use')
    const [silent, slow, gone] = await Promise.all([1, 2, 3].map(() => TcpClient.open(port)))
    slow?.socket.write(v2().subarray(0, 20))
    gone?.socket.end('PROXY TCP4 ')
    await gone?.closed
    while (refused.count < 1) await new Promise(setImmediate)
    // The server has accepted all of them once it has answered a later one.
    const other = await TcpClient.open(port)
    other.socket.write(Buffer.concat([v1(), QUERY]))
    await other.messages(1)
    vi.advanceTimersByTime(5000)
    await Promise.all([silent?.closed, slow?.closed])
    assert.deepEqual([clients, refused.count], [[IPV4], 3])
    other.destroy()
  })

  test('whose connection the server closes', async (t) => {
    const server = new TcpServer(() => () => undefined, undefined, undefined, {
      policyOf: () => 'use',
    })
    t.onTestFinished(() => server.close())
    const client = await TcpClient.open(await server.listen('127.0.0.1', 0))
    client.socket.write('PROXY')
    await new Promise((resolve) => setTimeout(resolve, 50))
    await within(server.close(), 'the end')
    await within(client.closed, 'the end')
  })
})

/** Connects over TLS after a header. */
async function secured(port: number, header: Uint8Array, protocol: string): Promise<TLSSocket> {
  const below = await TcpClient.open(port)
  below.socket.removeAllListeners('data')
  below.socket.write(header)
  const socket = connect({
    socket: below.socket,
    rejectUnauthorized: false,
    ALPNProtocols: [protocol],
  })
  await within(once(socket, 'secureConnect'), 'a handshake')
  return socket
}

test('over TLS, connections may have one header', async (t) => {
  const { port, clients } = await served(t, 'require', TLS)
  const sockets = await Promise.all([1, 2, 3].map(() => secured(port, v2(), 'dot')))
  const answered = sockets.map((one) => within(once(one, 'data'), 'an answer'))
  for (const socket of sockets) socket.write(QUERY)
  await Promise.all(answered)
  assert.deepEqual(clients, [IPV4, IPV4, IPV4])
  for (const socket of sockets) socket.destroy()
})

test('over TLS, the header is before the handshake', async (t) => {
  const { port, clients } = await served(t, 'require', TLS)
  const socket = await secured(port, v2(), 'dot')
  socket.write(QUERY)
  await within(once(socket, 'data'), 'an answer')
  assert.deepEqual(clients, [IPV4])
  socket.destroy()
})

describe('over HTTP, the client is that of the header', () => {
  const app = new Hono().get('/who', (c) => c.json(remoteOf(c.env)))
  const expected = { address: '192.0.2.7', port: 4711, localAddress: '198.51.100.1', localPort: 53 }
  const start = async (t: TestContext, tls?: typeof TLS): Promise<number> => {
    const proxy = { policyOf: (): ProxyPolicy => 'require' }
    const server = new HttpServer(app, { proxy, ...(tls && { tls }) })
    t.onTestFinished(() => server.close())
    return server.listen('127.0.0.1', 0)
  }
  const GET = 'GET /who HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

  test('without TLS', async (t) => {
    const client = await TcpClient.open(await start(t))
    const chunks: Buffer[] = []
    client.socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)))
    client.socket.write(Buffer.concat([v1(), Buffer.from(GET)]))
    await within(client.closed, 'the end')
    const [, body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n')
    assert.deepEqual(JSON.parse(body), expected)
  })

  test('with HTTP/2', async (t) => {
    const port = await start(t, TLS)
    const [socket, other] = await Promise.all([1, 2].map(() => secured(port, v2(), 'h2')))
    t.onTestFinished(() => void other?.destroy())
    const session = connectHttp2('https://localhost', {
      createConnection: () => socket ?? assert.fail(),
    })
    const stream = session.request({ ':path': '/who' })
    let body = ''
    for await (const chunk of stream) body += String(chunk)
    assert.deepEqual(JSON.parse(body), expected)
    session.destroy()
  })

  test('and one without a header is closed', async (t) => {
    const client = await TcpClient.open(await start(t))
    client.socket.write(GET)
    await within(client.closed, 'the end')
  })
})

describe('over UDP, the client', () => {
  let nowMs = 0
  const headers: { policy: ProxyPolicy } & Pick<ProxyHeaders, 'sessionMs' | 'sessionsMax'> = {
    policy: 'use',
    sessionMs: 0,
    sessionsMax: 2,
  }
  let clients: string[] = []
  let refused = 0
  /** Notes the client, and leaves the message to the slow path, which answers nothing. */
  const note = (message: Uint8Array, { address, port }: Client): number => {
    assert.equal(message.length, queryWith(1).length)
    clients.push(port === 53 ? address : `${address} ${port}`)
    return 0
  }
  const datagrams = new ProxyDatagrams(
    { fast: note, slow: () => undefined },
    {
      headers: () => ({ ...headers, policyOf: () => headers.policy }),
      now: () => nowMs,
      onRefused: () => void refused++,
    },
  )
  const writer = new ReplyWriter()
  const send = (header: Uint8Array, address = PEER, payload = queryWith(1)): string[] => {
    clients = []
    const peer: Client = { address, port: 53, transport: 'udp' }
    const datagram = Buffer.concat([header, payload])
    if (datagrams.fast(datagram, peer, writer) === 0) void datagrams.slow(datagram, peer)
    return clients
  }
  const UDP = v2({ kind: KIND.UDP4 })
  const rows: { name: string; policy?: ProxyPolicy; sends: Uint8Array; is: string | undefined }[] =
    [
      { name: 'of a header', sends: UDP, is: '192.0.2.7 4711' },
      { name: 'of IPv6', sends: v2({ kind: KIND.UDP6, body: ENDS.IPv6 }), is: '2001:db8::7 4711' },
      { name: 'of LOCAL', sends: v2({ command: LOCAL, kind: 0, body: Buffer.alloc(0) }), is: PEER },
      { name: 'of no header', sends: Buffer.alloc(0), is: PEER },
      { name: 'of TCP', sends: v2(), is: undefined },
      { name: 'of version 1', sends: v1(), is: undefined },
      {
        name: 'of a Unix socket',
        sends: v2({ kind: KIND.DATAGRAM, body: ENDS.UNIX }),
        is: undefined,
      },
      {
        name: 'of TLVs without end',
        sends: v2({ kind: KIND.UDP4, length: 0xffff }),
        is: undefined,
      },
      {
        name: 'of a header that is cut',
        sends: v2({ kind: KIND.UDP4, length: 100 }),
        is: undefined,
      },
      { name: 'that is ignored', policy: 'ignore', sends: UDP, is: PEER },
      { name: 'that is rejected', policy: 'reject', sends: UDP, is: undefined },
      { name: 'without one to reject', policy: 'reject', sends: Buffer.alloc(0), is: PEER },
      {
        name: 'without one that is required',
        policy: 'require',
        sends: Buffer.alloc(0),
        is: undefined,
      },
    ]
  for (const { name, policy = 'use', sends, is } of rows) {
    test(name, () => {
      Object.assign(headers, { policy, sessionMs: 0 })
      refused = 0
      assert.deepEqual(send(sends), is === undefined ? [] : [is])
      assert.equal(refused, is === undefined ? 1 : 0)
    })
  }

  test('is remembered for a while, for so many peers', () => {
    Object.assign(headers, { policy: 'use', sessionMs: 1000 })
    refused = 0
    const none = Buffer.alloc(0)
    const alone = (address: string): string[] => send(UDP, address, new Uint8Array(0))
    assert.deepEqual(send(none), [PEER])
    assert.deepEqual(alone(PEER), [])
    nowMs += 999
    assert.deepEqual(send(none), ['192.0.2.7 4711'])
    nowMs += 999
    assert.deepEqual(send(none), ['192.0.2.7 4711'])
    nowMs += 1000
    assert.deepEqual(send(none), [PEER])
    for (const address of ['127.0.0.2', '127.0.0.3']) alone(address)
    assert.deepEqual(send(none, '127.0.0.2'), ['192.0.2.7 4711'])
    alone('127.0.0.4')
    assert.deepEqual(send(none, '127.0.0.3'), ['127.0.0.3'])
    assert.deepEqual(send(none, '127.0.0.2'), ['192.0.2.7 4711'])
    assert.equal(refused, 0)
  })
})
