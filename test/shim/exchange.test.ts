import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { readUint16, writeUint16 } from '../../src/dns/bytes.ts'
import { exchange, random16 } from '../../src/shim/exchange.ts'
import {
  echo,
  type FakeServer,
  fakeTcp,
  fakeUdp,
  frame,
  LOOPBACKS,
  portOf,
  queryWith,
} from './clients.ts'

const QUERY = queryWith(0x1234)
const RIGHT = echo(QUERY)
/** Long enough for any machine: only tests of time-outs wait for it. */
const LONG_MS = 10_000
const SHORT_MS = 30

/** A copy with the octet at `offset` changed. */
function changed(message: Uint8Array, offset: number, value: number): Uint8Array {
  const copy = message.slice()
  copy[offset] = value
  return copy
}

/** The right answer with its name in capitals. */
function shouted(message: Uint8Array): Uint8Array {
  return message.map((value, i) => (i >= 12 && value >= 0x61 && value <= 0x7a ? value - 32 : value))
}

function withoutQuestion(message: Uint8Array): Uint8Array {
  const header = message.slice(0, 12)
  writeUint16(header, 4, 0)
  return header
}

async function ask(
  { port }: FakeServer,
  protocol: 'udp' | 'tcp',
  timeoutMs = LONG_MS,
): Promise<Uint8Array> {
  const upstream = { transport: 'dns', address: '127.0.0.1', port } as const
  return new Uint8Array(await exchange(upstream, QUERY, { protocol, timeoutMs }))
}

const STRAYS: readonly { readonly name: string; readonly message: Uint8Array }[] = [
  { name: 'another ID', message: changed(RIGHT, 1, 0x35) },
  { name: 'a query', message: QUERY },
  { name: 'another name', message: changed(RIGHT, 13, 0x62) },
  { name: 'another type', message: changed(RIGHT, RIGHT.length - 3, 28) },
  { name: 'another class', message: changed(RIGHT, RIGHT.length - 1, 3) },
  { name: 'a question cut off', message: RIGHT.subarray(0, -1) },
  { name: 'less than a header', message: withoutQuestion(RIGHT).subarray(0, 11) },
]
const ACCEPTED: readonly { readonly name: string; readonly message: Uint8Array }[] = [
  { name: 'a response to the question', message: RIGHT },
  { name: 'a response in other letters', message: shouted(RIGHT) },
  { name: 'a response without a question', message: withoutQuestion(RIGHT) },
  { name: 'a response with more behind', message: new Uint8Array([...RIGHT, 1, 2, 3]) },
]

describe('exchange over UDP', () => {
  for (const { name, message } of ACCEPTED) {
    test(`takes ${name}`, async (t) => {
      assert.deepEqual(await ask(await fakeUdp(t, () => [message]), 'udp'), message)
    })
  }

  for (const { name, message } of [
    ...STRAYS,
    { name: 'an empty datagram', message: new Uint8Array(0) },
  ]) {
    test(`passes over ${name}`, async (t) => {
      assert.deepEqual(await ask(await fakeUdp(t, () => [message, RIGHT]), 'udp'), RIGHT)
    })
  }

  const stray = changed(RIGHT, 0, 0x99)
  test('passes over 20 answers to something else', async (t) => {
    const messages = [...Array.from({ length: 20 }, () => stray), RIGHT]
    assert.deepEqual(await ask(await fakeUdp(t, () => messages), 'udp'), RIGHT)
  })

  test('gives up after more', async (t) => {
    const messages = [...Array.from({ length: 21 }, () => stray), RIGHT]
    await assert.rejects(ask(await fakeUdp(t, () => messages), 'udp'), {
      message: 'too many answers to other questions',
    })
  })

  test('gives up in time', async (t) => {
    await assert.rejects(ask(await fakeUdp(t, () => []), 'udp', SHORT_MS), {
      message: 'no answer over UDP in time',
    })
  })

  test('hears no answer from another port', async (t) => {
    const other = createSocket('udp4')
    t.after(() => other.close())
    const forged = new Uint8Array([...RIGHT, 0xff])
    const server = await fakeUdp(t, (_, clientPort) => {
      other.send(forged, clientPort, '127.0.0.1')
      return [RIGHT]
    })
    assert.deepEqual(await ask(server, 'udp'), RIGHT)
  })

  test('is not disturbed by an answer that comes too late', async (t) => {
    const other = createSocket('udp4')
    t.after(() => other.close())
    const first = Promise.withResolvers<number>()
    let count = 0
    const server = await fakeUdp(t, (query, clientPort) => {
      first.resolve(clientPort)
      return count++ === 0 ? [] : [echo(query)]
    })
    await assert.rejects(ask(server, 'udp', SHORT_MS), { message: 'no answer over UDP in time' })
    other.send(RIGHT, await first.promise, '127.0.0.1')
    assert.deepEqual(await ask(server, 'udp'), RIGHT)
  })

  test('asks from a port of its own each time', async (t) => {
    const ports = new Set<number>()
    const server = await fakeUdp(t, (query, clientPort) => {
      ports.add(clientPort)
      return [echo(query)]
    })
    const upstream = { transport: 'dns', address: '127.0.0.1', port: server.port } as const
    const asked = Array.from({ length: 8 }, (_, id) =>
      exchange(upstream, queryWith(id), { protocol: 'udp', timeoutMs: LONG_MS }),
    )
    const replies = await Promise.all(asked)
    assert.deepEqual(
      replies.map((reply) => readUint16(reply, 0)),
      [0, 1, 2, 3, 4, 5, 6, 7],
    )
    assert.equal(ports.size, 8)
  })

  for (const address of LOOPBACKS) {
    test(`asks ${address}`, async (t) => {
      const server = await fakeUdp(t, (query) => [echo(query)], address)
      const upstream = { transport: 'dns', address, port: server.port } as const
      const reply = await exchange(upstream, QUERY, { protocol: 'udp', timeoutMs: LONG_MS })
      assert.deepEqual(new Uint8Array(reply), RIGHT)
    })
  }

  test('tells of a port where nobody listens', async (t) => {
    const { port, close } = await fakeUdp(t, () => [])
    await close()
    const upstream = { transport: 'dns', address: '127.0.0.1', port } as const
    const asked = exchange(upstream, QUERY, { protocol: 'udp', timeoutMs: LONG_MS })
    await assert.rejects(asked, /ECONNREFUSED/)
  })

  test('tells of an address that cannot be sent to', async () => {
    // The system sends nothing to this address for a socket that did not ask to broadcast.
    const upstream = { transport: 'dns', address: '255.255.255.255', port: 53 } as const
    const asked = exchange(upstream, QUERY, { protocol: 'udp', timeoutMs: LONG_MS })
    await assert.rejects(asked, /^Error: connect E/)
  })

  test('takes the answer, whatever came before it', async (t) => {
    const strays = fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 20 })
    const property = fc.asyncProperty(strays, async (messages) => {
      const different = messages.map((message) => Uint8Array.of(0xff, ...message))
      const server = await fakeUdp(t, () => [...different, RIGHT])
      assert.deepEqual(await ask(server, 'udp'), RIGHT)
    })
    await fc.assert(property, { numRuns: 30 })
  })
})

describe('exchange over TCP', () => {
  const sending =
    (...messages: readonly Uint8Array[]) =>
    (_: Uint8Array, socket: Socket): void => {
      for (const message of messages) socket.write(frame(message))
    }

  test('sends the query behind its length', async (t) => {
    const seen: Uint8Array[] = []
    const server = await fakeTcp(t, (query, socket) => {
      seen.push(query)
      socket.write(frame(RIGHT))
    })
    await ask(server, 'tcp')
    assert.deepEqual(seen, [QUERY])
  })

  for (const { name, message } of ACCEPTED) {
    test(`takes ${name}`, async (t) => {
      assert.deepEqual(await ask(await fakeTcp(t, sending(message)), 'tcp'), message)
    })
  }

  for (const { name, message } of STRAYS) {
    test(`passes over ${name}`, async (t) => {
      assert.deepEqual(await ask(await fakeTcp(t, sending(message, RIGHT)), 'tcp'), RIGHT)
    })
  }

  test('takes an answer that comes octet by octet', async (t) => {
    const server = await fakeTcp(t, (_, socket) => {
      for (const value of frame(RIGHT)) socket.write(Uint8Array.of(value))
    })
    assert.deepEqual(await ask(server, 'tcp'), RIGHT)
  })

  test('takes an answer of 65,535 octets', async (t) => {
    const large = new Uint8Array(65_535)
    large.set(RIGHT)
    assert.deepEqual(await ask(await fakeTcp(t, sending(large)), 'tcp'), large)
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
      says: /^Error: the upstream closed the connection$/,
    },
    {
      name: 'an upstream that closes within its answer',
      answer: (_, socket) => socket.end(frame(RIGHT).subarray(0, 20)),
      says: /^Error: the upstream closed the connection$/,
    },
    {
      name: 'an upstream that resets',
      answer: (_, socket) => socket.resetAndDestroy(),
      says: /ECONNRESET/,
    },
    {
      name: 'an upstream that sends an empty message',
      answer: (_, socket) => socket.write(Uint8Array.of(0, 0)),
      says: /^Error: the upstream sent an empty message$/,
    },
    {
      name: 'an upstream that says nothing',
      answer: () => undefined,
      says: /^Error: no answer over TCP in time$/,
      timeoutMs: SHORT_MS,
    },
    {
      name: 'an upstream that only answers something else',
      answer: sending(changed(RIGHT, 0, 0x99)),
      says: /^Error: no answer over TCP in time$/,
      timeoutMs: SHORT_MS,
    },
  ]
  for (const { name, answer, says, timeoutMs } of failures) {
    test(`tells of ${name}`, async (t) => {
      await assert.rejects(ask(await fakeTcp(t, answer), 'tcp', timeoutMs), says)
    })
  }

  test('tells of a port where nobody listens', async (t) => {
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

  test('posts the query with ID 0 and gives the answer its ID', async () => {
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
        says: /over 65535 octets/,
      },
      {
        name: 'an empty body',
        listener: (_, response) => response.writeHead(200, WIRE).end(),
        says: /^Error: 0 octets/,
      },
      {
        name: 'a connection that closes',
        listener: (request) => request.socket.destroy(),
        says: /fetch failed/,
      },
      {
        name: 'a body that breaks off',
        listener: (request, response) => {
          response.writeHead(200, { ...WIRE, 'content-length': '100' })
          response.write(RIGHT, () => request.socket.destroy())
        },
        says: /terminated/,
      },
      {
        name: 'no answer in time',
        listener: () => undefined,
        says: /^TimeoutError/,
        timeoutMs: SHORT_MS,
      },
    ]
  for (const { name, listener, says, timeoutMs } of failures) {
    test(`tells of ${name}`, async () => {
      await assert.rejects(askHttp(listener, timeoutMs), says)
    })
  }

  test('tells of an upstream without a URL', async () => {
    const upstream = { transport: 'https', address: 'gateway.example.org', port: 443 } as const
    await assert.rejects(exchange(upstream, QUERY, { protocol: 'udp', timeoutMs: LONG_MS }))
  })
})

describe('random16', () => {
  test('gives all kinds of numbers of 16 bits', () => {
    const numbers = Array.from({ length: 5000 }, random16)
    for (const number of numbers) assert.ok(Number.isInteger(number))
    assert.ok(Math.min(...numbers) >= 0 && Math.min(...numbers) < 3277)
    assert.ok(Math.max(...numbers) <= 65_535 && Math.max(...numbers) > 62_258)
    assert.ok(new Set(numbers).size > 4500)
  })
})
