import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { describe, test } from 'vitest'
import { exchange } from '../../../src/server/upstream/exchange.ts'
import {
  ACCEPTED,
  changed,
  LONG_MS,
  QUERY,
  QUESTIONLESS,
  RIGHT,
  SHORT_MS,
  STRAYS,
} from '../answer-samples.ts'
import { echo, type FakeServer, fakeTcp, frame, portOf, queryWith } from '../clients.ts'

async function ask({ port }: FakeServer, timeoutMs = LONG_MS): Promise<Uint8Array> {
  const upstream = { transport: 'dns', address: '127.0.0.1', port } as const
  return new Uint8Array(await exchange(upstream, QUERY, { protocol: 'tcp', timeoutMs }))
}

describe('exchange over TCP', () => {
  const sending =
    (...messages: readonly Uint8Array[]) =>
    (_: Uint8Array, socket: Socket): void => {
      for (const message of messages) socket.write(frame(message))
    }

  test('sends the query after its length', async (t) => {
    const seen: Uint8Array[] = []
    const server = await fakeTcp(t, (query, socket) => {
      seen.push(query)
      socket.write(frame(RIGHT))
    })
    await ask(server)
    assert.deepEqual(seen, [QUERY])
  })

  for (const { name, message } of [...ACCEPTED, ...QUESTIONLESS]) {
    test(`takes ${name}`, async (t) => {
      assert.deepEqual(await ask(await fakeTcp(t, sending(message))), message)
    })
  }

  for (const { name, message } of STRAYS) {
    test(`passes over ${name}`, async (t) => {
      assert.deepEqual(await ask(await fakeTcp(t, sending(message, RIGHT))), RIGHT)
    })
  }

  test('takes an answer that comes byte by byte', async (t) => {
    const server = await fakeTcp(t, (_, socket) => {
      for (const value of frame(RIGHT)) socket.write(Uint8Array.of(value))
    })
    assert.deepEqual(await ask(server), RIGHT)
  })

  test('takes an answer of 65,535 bytes', async (t) => {
    const large = new Uint8Array(65_535)
    large.set(RIGHT)
    assert.deepEqual(await ask(await fakeTcp(t, sending(large))), large)
  })

  const failures: {
    name: string
    answer: (query: Uint8Array, socket: Socket) => void
    says: RegExp
    timeoutMs?: number
  }[] = [
    {
      name: 'an upstream that closes',
      answer: (_, socket) => socket.end(),
      says: /the upstream closed the connection$/,
    },
    {
      name: 'an upstream that closes within its answer',
      answer: (_, socket) => socket.end(frame(RIGHT).subarray(0, 20)),
      says: /the upstream closed the connection$/,
    },
    {
      name: 'an upstream that resets',
      answer: (_, socket) => socket.resetAndDestroy(),
      says: /ECONNRESET/,
    },
    {
      name: 'an upstream that sends an empty message',
      answer: (_, socket) => socket.write(Uint8Array.of(0, 0)),
      says: /the upstream sent an empty message$/,
    },
    {
      name: 'an upstream that says nothing',
      answer: () => undefined,
      says: /^Error: no response over TCP in time$/,
      timeoutMs: SHORT_MS,
    },
    {
      name: 'an upstream that only answers something else',
      answer: sending(changed(RIGHT, 0, 0x99)),
      says: /^Error: no response over TCP in time$/,
      timeoutMs: SHORT_MS,
    },
  ]
  for (const { name, answer, says, timeoutMs } of failures) {
    test(`reports ${name}`, async (t) => {
      await assert.rejects(ask(await fakeTcp(t, answer), timeoutMs), says)
    })
  }

  test('reports a closed port', async (t) => {
    const { port, close } = await fakeTcp(t, () => undefined)
    await close()
    const upstream = { transport: 'dns', address: '127.0.0.1', port } as const
    const asked = exchange(upstream, QUERY, { protocol: 'tcp', timeoutMs: LONG_MS })
    await assert.rejects(asked, /ECONNREFUSED/)
  })
})

describe('exchange over HTTPS', () => {
  /** Asks a server of plain HTTP, which differs from HTTPS in nothing that is tested here. */
  async function askHttp(listener: RequestListener, timeoutMs = LONG_MS): Promise<Uint8Array> {
    const server = createServer(listener)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const port = portOf(server.address())
    const url = `http://127.0.0.1:${port}/dns-query`
    try {
      const upstream = { transport: 'https', address: '127.0.0.1', port, url } as const
      return await exchange(upstream, QUERY, { protocol: 'udp', timeoutMs })
    } finally {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }

  const WIRE = { 'content-type': 'application/dns-message' }

  test('posts the query with ID 0 and restores the ID in the response', async () => {
    const seen: { method: string | undefined; url: string | undefined; body: Uint8Array }[] = []
    const reply = await askHttp(async (request, response) => {
      const chunks: Uint8Array[] = []
      for await (const chunk of request) chunks.push(chunk)
      const body = new Uint8Array(Buffer.concat(chunks))
      seen.push({ method: request.method, url: request.url, body })
      response.writeHead(200, WIRE).end(echo(body))
    })
    assert.deepEqual(seen, [{ method: 'POST', url: '/dns-query', body: queryWith(0) }])
    assert.deepEqual(reply, RIGHT)
  })

  const failures: { name: string; listener: RequestListener; says: RegExp; timeoutMs?: number }[] =
    [
      {
        name: 'an error of HTTP',
        listener: (_, response) => response.writeHead(503, WIRE).end(RIGHT),
        says: /^Error: HTTP status 503$/,
      },
      {
        name: 'a redirect, which it does not follow',
        listener: (request, response) =>
          request.url === '/dns-query'
            ? response.writeHead(307, { location: '/other' }).end()
            : response.writeHead(200, WIRE).end(RIGHT),
        says: /^Error: HTTP status 307$/,
      },
      {
        name: 'another media type',
        listener: (_, response) => response.writeHead(200, { 'content-type': 'a/b' }).end(RIGHT),
        says: /content type "a\/b"/,
      },
      {
        name: 'a body that is too long',
        listener: (_, response) => response.writeHead(200, WIRE).end(new Uint8Array(65_536)),
        says: /exceeds 65535 bytes/,
      },
      {
        name: 'an empty body',
        listener: (_, response) => response.writeHead(200, WIRE).end(),
        says: /^Error: 0 bytes/,
      },
      {
        name: 'a connection that closes',
        listener: (request) => request.socket.destroy(),
        says: /socket hang up/,
      },
      {
        name: 'a body that breaks off',
        listener: (request, response) => {
          response.writeHead(200, { ...WIRE, 'content-length': '100' })
          response.write(RIGHT, () => request.socket.destroy())
        },
        says: /aborted|broke off/,
      },
      {
        name: 'no response in time',
        listener: () => undefined,
        says: /no response over HTTPS in time/,
        timeoutMs: SHORT_MS,
      },
    ]
  for (const { name, listener, says, timeoutMs } of failures) {
    test(`reports ${name}`, async () => {
      await assert.rejects(askHttp(listener, timeoutMs), says)
    })
  }

  test('reports an upstream without a URL', async () => {
    const upstream = { transport: 'https', address: 'gateway.example.org', port: 443 } as const
    await assert.rejects(exchange(upstream, QUERY, { protocol: 'udp', timeoutMs: LONG_MS }))
  })
})
