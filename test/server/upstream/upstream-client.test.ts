import assert from 'node:assert/strict'
import type { TLSSocket } from 'node:tls'
import { describe, type TestContext, test } from 'vitest'
import type {
  Upstream,
  UpstreamClient,
  UpstreamOptions,
} from '../../../src/resolver/contract/host.ts'
import { openUpstream } from '../../../src/server/upstream/upstream-client.ts'
import { AUTHORITY, CLIENT } from '../../certificates.ts'
import { writeReplyText } from '../../message-text.ts'
import { LONG_MS, QUERY, RIGHT, SHORT_MS } from '../answer-samples.ts'
import { echo, fakeTcp, fakeUdp, frame, queryWith } from '../clients.ts'
import { fakeHttp2, fakeTls } from '../secure-servers.ts'

const UDP = { protocol: 'udp', timeoutMs: LONG_MS } as const
const TCP = { protocol: 'tcp', timeoutMs: LONG_MS } as const

/**
 * An upstream on this machine, closed with its test, and the connections that the client
 * reports.
 */
function open(
  t: TestContext,
  upstream: Partial<Upstream> & { port: number },
  options: Partial<UpstreamOptions> = {},
): { client: UpstreamClient; opened: string[] } {
  const opened: string[] = []
  const client = openUpstream(
    { transport: 'dns', address: '127.0.0.1', ...upstream },
    {
      tls: { ca: AUTHORITY },
      expireMs: LONG_MS,
      ageMsMax: 0,
      idleMax: 0,
      dohMethod: 'POST',
      resolvers: [],
      onConnection: (protocol, isReused) => opened.push(`${protocol} ${isReused}`),
      ...options,
    },
  )
  t.onTestFinished(() => client.close())
  return { client, opened }
}

const answer = (query: Uint8Array, socket: { write: (bytes: Uint8Array) => void }): void => {
  socket.write(frame(echo(query)))
}

describe('plain DNS', () => {
  test('uses a new socket for each query over UDP', async (t) => {
    const { port } = await fakeUdp(t, (query) => [echo(query)])
    const { client, opened } = open(t, { port })
    for (let i = 0; i < 2; i++) {
      assert.deepEqual(new Uint8Array(await client.exchange(QUERY, UDP)), RIGHT)
    }
    assert.deepEqual(opened, ['udp false', 'udp false'])
  })

  test('reuses a TCP connection, from the source address', async (t) => {
    const clients = new Set<string | undefined>()
    const { port } = await fakeTcp(t, (query, socket) => {
      clients.add(`${socket.remoteAddress}:${socket.remotePort}`)
      answer(query, socket)
    })
    const { client, opened } = open(t, { port }, { sourceAddress: '127.0.0.9' })
    for (let i = 0; i < 2; i++) assert.deepEqual(await client.exchange(QUERY, TCP), RIGHT)
    assert.deepEqual(opened, ['tcp false', 'tcp true'])
    assert.equal(clients.size, 1)
    assert.match(String([...clients][0]), /^127\.0\.0\.9:/)
  })
})

describe('DNS over TLS', () => {
  test('reuses a connection for every protocol', async (t) => {
    const { port } = await fakeTls(t, answer)
    const { client, opened } = open(t, { transport: 'tls', port })
    assert.deepEqual(await client.exchange(QUERY, UDP), RIGHT)
    assert.deepEqual(await client.exchange(QUERY, TCP), RIGHT)
    assert.deepEqual(opened, ['tcp-tls false', 'tcp-tls true'])
  })

  test('resumes the session on the next connection', async (t) => {
    const resumed: boolean[] = []
    const { port } = await fakeTls(t, (query, socket: TLSSocket) => {
      resumed.push(socket.isSessionReused())
      answer(query, socket)
    })
    const { client } = open(t, { transport: 'tls', port }, { ageMsMax: 0.001 })
    for (let i = 0; i < 2; i++) assert.deepEqual(await client.exchange(QUERY, UDP), RIGHT)
    assert.deepEqual(resumed, [false, true])
  })

  test('shows its own certificate', async (t) => {
    const shown: string[] = []
    const { port } = await fakeTls(
      t,
      (query, socket) => {
        shown.push(`${socket.authorized} ${socket.getPeerCertificate().subject.CN}`)
        answer(query, socket)
      },
      { ca: AUTHORITY, requestCert: true },
    )
    const { client } = open(t, { transport: 'tls', port }, { tls: { ca: AUTHORITY, ...CLIENT } })
    assert.deepEqual(await client.exchange(QUERY, UDP), RIGHT)
    assert.deepEqual(shown, ['true client.test'])
  })

  const refused: {
    name: string
    upstream?: Partial<Upstream>
    tls?: UpstreamOptions['tls']
    says: RegExp
  }[] = [
    { name: 'whose authority is unknown', tls: {}, says: /certificate/ },
    { name: 'for another name', upstream: { serverName: 'dns.example.org' }, says: /altnames/ },
    { name: 'for another address', upstream: { address: '127.0.0.2' }, says: /altnames|REFUSED/ },
  ]
  for (const { name, upstream, tls, says } of refused) {
    test(`takes no certificate ${name}`, async (t) => {
      let count = 0
      const { port } = await fakeTls(t, () => count++)
      const { client } = open(t, { transport: 'tls', port, ...upstream }, tls && { tls })
      await assert.rejects(client.exchange(QUERY, UDP), says)
      assert.equal(count, 0)
    })
  }

  test('times out if the server does not support TLS', async (t) => {
    const { port } = await fakeTcp(t, () => undefined)
    const { client } = open(t, { transport: 'tls', port })
    await assert.rejects(client.exchange(QUERY, { protocol: 'udp', timeoutMs: SHORT_MS }))
  })
})

describe('DNS over HTTPS', () => {
  for (const dohMethod of ['POST', 'GET'] as const) {
    test(`sends ${dohMethod} to any path`, async (t) => {
      const seen: string[] = []
      const { port } = await fakeHttp2(t, ({ method, path, body, stream }) => {
        seen.push(`${method} ${path.slice(0, 11)}`)
        const query = method === 'GET' ? Buffer.from(path.slice(11), 'base64url') : body
        stream.respond({ ':status': 200, 'content-type': 'application/dns-message' })
        stream.end(echo(new Uint8Array(query)))
      })
      const url = `https://127.0.0.1:${port}/t/key`
      const { client, opened } = open(t, { transport: 'https', port, url }, { dohMethod })
      assert.deepEqual(await client.exchange(QUERY, UDP), RIGHT)
      assert.deepEqual(seen, [dohMethod === 'GET' ? 'GET /t/key?dns=' : 'POST /t/key'])
      assert.deepEqual(opened, [])
    })
  }

  test('carries the token of the upstream', async (t) => {
    const seen: unknown[] = []
    const { port } = await fakeHttp2(t, ({ headers, body, stream }) => {
      seen.push(headers.authorization)
      stream.respond({ ':status': 200, 'content-type': 'application/dns-message' })
      stream.end(echo(body))
    })
    const url = `https://127.0.0.1:${port}/dns-query`
    for (const token of ['secret.token', undefined]) {
      const { client } = open(t, { transport: 'https', port, url, ...(token && { token }) })
      assert.deepEqual(await client.exchange(QUERY, UDP), RIGHT)
    }
    assert.deepEqual(seen, ['Bearer secret.token', undefined])
  })

  test('is waited for in parts of milliseconds as well', async (t) => {
    const { port } = await fakeHttp2(t, () => undefined)
    const url = `https://127.0.0.1:${port}/dns-query`
    const { client } = open(t, { transport: 'https', port, url })
    await assert.rejects(client.exchange(QUERY, { protocol: 'udp', timeoutMs: SHORT_MS + 0.5 }), {
      message: 'no response over HTTPS in time',
    })
  })

  test('is the host of the URL at another address, by the name of its certificate', async (t) => {
    const { port } = await fakeHttp2(t, ({ body, stream }) => {
      stream.respond({ ':status': 200, 'content-type': 'application/dns-message' })
      stream.end(echo(body))
    })
    const url = 'https://dns.example.org/dns-query'
    const named = { transport: 'https', port, url } as const
    await assert.rejects(open(t, named).client.exchange(QUERY, UDP), /altnames/)
    const { client } = open(t, { ...named, serverName: 'localhost' })
    assert.deepEqual(await client.exchange(QUERY, UDP), RIGHT)
  })

  test('needs a URL', (t) => {
    assert.throws(() => open(t, { transport: 'https', port: 443 }), /needs a URL/)
  })
})

describe('an upstream by its name', () => {
  test('tries its addresses in turn', async (t) => {
    const upstream = await fakeTls(t, answer)
    const { port } = await fakeUdp(t, (query) => {
      const isV4 = query.at(-3) === 1
      const lines = isV4 ? ['127.0.0.3', '127.0.0.1'].map((one) => `localhost. 9 IN A ${one}`) : []
      return [writeReplyText(['NOERROR ra', ...lines], query)]
    })
    const named = { transport: 'tls', address: 'localhost', port: upstream.port } as const
    const { client } = open(t, named, { resolvers: [`127.0.0.1:${port}`] })
    const refused = [1, 2].map((id) => {
      return assert.rejects(client.exchange(queryWith(id), UDP), /ECONNREFUSED/)
    })
    await Promise.all(refused)
    assert.deepEqual(await client.exchange(QUERY, UDP), RIGHT)
  })

  test('fails if its hostname is unknown', async (t) => {
    const { port } = await fakeUdp(t, (query) => [writeReplyText(['NXDOMAIN ra'], query)])
    const named = { address: 'dns.example.org', port: 53 }
    const { client } = open(t, named, { resolvers: [`127.0.0.1:${port}`] })
    await assert.rejects(client.exchange(QUERY, UDP), /ENOTFOUND/)
  })

  test('waits for its first addresses no longer than for a response', async (t) => {
    const { port } = await fakeUdp(t, () => [])
    const { client } = open(
      t,
      { address: 'silent.test', port },
      { resolvers: [`127.0.0.1:${port}`] },
    )
    await assert.rejects(client.exchange(QUERY, { ...UDP, timeoutMs: SHORT_MS }), {
      message: 'no address of silent.test in time',
    })
    const caller = new AbortController()
    const waiting = client.exchange(QUERY, { ...UDP, signal: caller.signal })
    caller.abort()
    await assert.rejects(waiting, { message: 'aborted' })
  })

  test('is known after a reload while the resolver is silent', async (t) => {
    const upstream = await fakeUdp(t, (query) => [echo(query)])
    let isSilent = false
    const { port } = await fakeUdp(t, (query) => {
      const lines = query.at(-3) === 1 ? ['reloaded.test. 9 IN A 127.0.0.1'] : []
      return isSilent ? [] : [writeReplyText(['NOERROR ra', ...lines], query)]
    })
    const named = { address: 'reloaded.test', port: upstream.port }
    for (isSilent of [false, true]) {
      const { client } = open(t, named, { resolvers: [`127.0.0.1:${port}`] })
      assert.deepEqual(new Uint8Array(await client.exchange(QUERY, UDP)), RIGHT)
    }
  })

  test('rejects unusable certificates at once', (t) => {
    const named = { transport: 'tls', address: 'dns.example.org', port: 853 } as const
    assert.throws(() => open(t, named, { tls: { ca: 'x' } }), /no PEM certificate/)
  })
})
