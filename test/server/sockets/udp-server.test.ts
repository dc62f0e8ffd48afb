import assert from 'node:assert/strict'
import { createSocket, Socket } from 'node:dgram'
import fc from 'fast-check'
import { describe, test, vi } from 'vitest'
import { byteAt, readUint16 } from '../../../src/dns/bytes/bytes.ts'
import type { Client } from '../../../src/resolver/contract/client.ts'
import type { Answer } from '../../../src/server/sockets/answer.ts'
import { UdpServer } from '../../../src/server/sockets/udp-server.ts'
import { askUdp, echo, LOOPBACKS, overUdp, queryWith, within } from '../clients.ts'

/** Runs a function with a server on loopback. */
async function withServer(
  answer: Answer,
  run: (port: number, server: UdpServer) => Promise<void>,
  address = '127.0.0.1',
): Promise<void> {
  const server = new UdpServer(address, overUdp(answer))
  const port = await server.listen(address, 0)
  try {
    await run(port, server)
  } finally {
    await server.close()
  }
}

/** Answers queries; ignores messages shorter than a header. */
const echoQueries: Answer = (message) => (message.length < 12 ? undefined : echo(message))

describe('UdpServer', () => {
  for (const address of LOOPBACKS) {
    test(`answers at ${address}`, async () => {
      const run = async (port: number): Promise<void> => {
        const query = queryWith(7)
        assert.deepEqual(await askUdp(address, port, query), { message: echo(query), address })
      }
      await withServer(echoQueries, run, address)
    })
  }

  test('leaves time to others in each turn of the event loop when queries are slow', async (t) => {
    // No more than the smallest receive buffer holds.
    const COUNT = 250
    const perTurn = [0]
    let isEnded = false
    const turn = (): void => {
      perTurn.push(0)
      if (!isEnded) setImmediate(turn)
    }
    const all = Promise.withResolvers<void>()
    let answered = 0
    const slow: Answer = () => {
      for (const endMs = performance.now() + 0.2; performance.now() < endMs; );
      perTurn[perTurn.length - 1] = (perTurn.at(-1) ?? 0) + 1
      if (++answered === COUNT) all.resolve()
      return undefined
    }
    await withServer(slow, async (port) => {
      const socket = createSocket('udp4')
      t.onTestFinished(() => void socket.close())
      await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
      setImmediate(turn)
      for (let i = 0; i < COUNT; i++) socket.send(queryWith(i), port, '127.0.0.1')
      await within(all.promise, 'all queries')
      isEnded = true
      // Node hands over 32 in a turn; two batches of 64 may come between them.
      assert.ok(Math.max(...perTurn) <= 200, `${perTurn}`)
    })
  })

  test('passes on both ends of the query', async (t) => {
    const clients: Client[] = []
    const answer: Answer = (message, client) => {
      clients.push(client)
      return echo(message)
    }
    await withServer(answer, async (port) => {
      const socket = createSocket('udp4')
      t.onTestFinished(() => void socket.close())
      await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
      const answered = new Promise((resolve) => socket.once('message', resolve))
      socket.send(queryWith(1), port, '127.0.0.1')
      await within(answered, 'an answer')
      const address = '127.0.0.1'
      const from = { address, port: socket.address().port, transport: 'udp' }
      assert.deepEqual(clients, [{ ...from, localAddress: address, localPort: port }])
    })
  })

  test('sends a response that is ready later', async () => {
    const first = Promise.withResolvers<Uint8Array>()
    const answer: Answer = (message) =>
      readUint16(message, 0) === 1 ? first.promise : echo(message)
    await withServer(answer, async (port) => {
      const waiting = askUdp('127.0.0.1', port, queryWith(1))
      await askUdp('127.0.0.1', port, queryWith(2))
      first.resolve(echo(queryWith(1)))
      assert.deepEqual((await waiting).message, echo(queryWith(1)))
    })
  })

  test('sends nothing without a response, now or later', async (t) => {
    const answer: Answer = (message) => {
      const id = readUint16(message, 0)
      if (id === 1) return undefined
      return id === 2 ? Promise.resolve(undefined) : echo(message)
    }
    await withServer(answer, async (port) => {
      const socket = createSocket('udp4')
      t.onTestFinished(() => void socket.close())
      const got: Uint8Array[] = []
      const third = new Promise<void>((resolve) => {
        socket.on('message', (message) => {
          got.push(message)
          resolve()
        })
      })
      for (const id of [1, 2, 3]) socket.send(queryWith(id), port, '127.0.0.1')
      await within(third, 'the third answer')
      assert.deepEqual(
        got.map((message) => readUint16(message, 0)),
        [3],
      )
    })
  })

  test('survives any datagram', async () => {
    const anything = fc.array(fc.uint8Array({ maxLength: 600 }), { maxLength: 8 })
    await withServer(echoQueries, async (port) => {
      const property = fc.asyncProperty(anything, async (messages) => {
        const query = queryWith(0xffee)
        assert.deepEqual((await askUdp('127.0.0.1', port, ...messages, query)).message, echo(query))
      })
      await fc.assert(property, { numRuns: 50 })
    })
  })

  test('survives a client that has gone before its response', async () => {
    const late = Promise.withResolvers<Uint8Array>()
    const asked = Promise.withResolvers<void>()
    const answer: Answer = (message) => {
      if (readUint16(message, 0) !== 1) return echo(message)
      asked.resolve()
      return late.promise
    }
    await withServer(answer, async (port) => {
      const socket = createSocket('udp4')
      socket.send(queryWith(1), port, '127.0.0.1')
      await within(asked.promise, 'the query')
      await new Promise<void>((resolve) => socket.close(resolve))
      late.resolve(echo(queryWith(1)))
      const { message } = await askUdp('127.0.0.1', port, queryWith(2))
      assert.deepEqual(message, echo(queryWith(2)))
    })
  })

  test('survives a response that does not fit a datagram', async () => {
    const answer: Answer = (message) =>
      readUint16(message, 0) === 1 ? new Uint8Array(65_535) : echo(message)
    await withServer(answer, async (port) => {
      const { message } = await askUdp('127.0.0.1', port, queryWith(1), queryWith(2))
      assert.deepEqual(message, echo(queryWith(2)))
    })
  })

  test('drops a response that is ready after close', async () => {
    const late = Promise.withResolvers<Uint8Array>()
    const asked = Promise.withResolvers<void>()
    const answer: Answer = () => {
      asked.resolve()
      return late.promise
    }
    const client = createSocket('udp4')
    await withServer(answer, async (port) => {
      client.send(queryWith(1), port, '127.0.0.1')
      await within(asked.promise, 'the query')
    })
    client.close()
    late.resolve(echo(queryWith(1)))
    // A throw after the promise would be an unhandled rejection, which fails the test.
    await late.promise
    await new Promise(setImmediate)
  })
})

describe('UdpServer and its socket', () => {
  /** Sockets that were bound during the test. */
  function boundSockets(): Socket[] {
    const sockets: Socket[] = []
    const { bind } = Socket.prototype
    vi.spyOn(Socket.prototype, 'bind').mockImplementation(function (this: Socket, ...args) {
      sockets.push(this)
      return Reflect.apply(bind, this, args)
    })
    return sockets
  }

  /** Datagrams passed to a socket, with their callbacks. */
  type Sending = { readonly bytes: Uint8Array; readonly to: number; readonly sent: () => void }

  /** Records datagrams instead of sending them. */
  function heldBack(): Sending[] {
    const held: Sending[] = []
    const send = (...args: unknown[]): void => {
      const sent = args.at(-1)
      const [bytes, start = 0, size] = args
      assert.ok(bytes instanceof Uint8Array && typeof sent === 'function')
      const isPart = args.length === 6
      held.push({
        bytes: isPart ? bytes.subarray(Number(start), Number(start) + Number(size)) : bytes,
        to: Number(args.at(-3)),
        sent: () => void sent(),
      })
    }
    vi.spyOn(Socket.prototype, 'send').mockImplementation(send)
    return held
  }

  /** Answers with the query's ID and the client's port; odd IDs are answered later. */
  const written: Answer = (message, client, writer) => {
    const response = (port: number): Uint8Array =>
      Uint8Array.of(byteAt(message, 0), byteAt(message, 1), port, 0xee)
    if (byteAt(message, 1) % 2 === 1) return Promise.resolve().then(() => response(client.port))
    writer.bytes.set(response(client.port))
    return 4
  }

  test('does not overwrite a response that the socket still holds', async () => {
    const sockets = boundSockets()
    const held = heldBack()
    await withServer(written, async () => {
      const [socket] = sockets
      const receive = (id: number): void => {
        const remote = { address: '127.0.0.1', family: 'IPv4', size: 29, port: 100 + id }
        socket?.emit('message', queryWith(id), remote)
      }
      const check = (): void => {
        for (const { bytes, to } of held) assert.deepEqual([...bytes], [0, to - 100, to, 0xee])
      }
      // The socket sends some at once and others after more queries, in varying order.
      for (let id = 0; id < 120; id++) {
        receive(id)
        if (id % 31 === 30) await new Promise(setImmediate)
        check()
        const sentCount = [0, 1, 0, 3][id % 4] ?? 0
        for (let i = 0; i < sentCount; i++) held.splice((id * 7) % held.length, 1)[0]?.sent()
      }
      await new Promise(setImmediate)
      check()
      assert.ok(held.length > 0)
    })
  })

  test('allocates no memory for a response while the writer is free', async () => {
    const sockets = boundSockets()
    const held = heldBack()
    await withServer(written, () => {
      const remote = { address: '127.0.0.1', family: 'IPv4', size: 29, port: 100 }
      for (let id = 0; id < 6; id += 2) {
        sockets[0]?.emit('message', queryWith(id), remote)
        held.at(-1)?.sent()
      }
      assert.equal(new Set(held.map(({ bytes }) => bytes.buffer)).size, 1)
      return Promise.resolve()
    })
  })

  test('ignores datagrams from port 0, which cannot be answered', async () => {
    const sockets = boundSockets()
    const ports: number[] = []
    const answer: Answer = (_, { port }) => {
      ports.push(port)
      return undefined
    }
    await withServer(answer, async () => {
      const [socket] = sockets
      const remote = { address: '127.0.0.1', family: 'IPv4', size: 29 }
      for (const port of [0, 1]) socket?.emit('message', queryWith(1), { ...remote, port })
    })
    assert.deepEqual(ports, [1])
  })

  test('survives a network error', async () => {
    const sockets = boundSockets()
    await withServer(echoQueries, async (port) => {
      sockets[0]?.emit('error', new Error('recvmsg ECONNREFUSED'))
      const { message } = await askUdp('127.0.0.1', port, queryWith(1))
      assert.deepEqual(message, echo(queryWith(1)))
    })
    assert.equal(sockets.length, 2)
  })

  const WAYS = [
    { way: 'at once', answer: echoQueries },
    {
      way: 'later',
      answer: async (message: Uint8Array) => {
        await Promise.resolve()
        return echo(message)
      },
    },
    {
      way: 'in its writer',
      answer: (message: Uint8Array, _: Client, { bytes }: { bytes: Uint8Array }) => {
        bytes.set(echo(message))
        return message.length
      },
    },
  ] satisfies { way: string; answer: Answer }[]
  test.for(WAYS)(
    'drops what it answers $way while the network takes nothing',
    async ({ answer }) => {
      const queued = vi.spyOn(Socket.prototype, 'getSendQueueSize').mockReturnValue(262_145)
      const drops = Promise.withResolvers<void>()
      const server = new UdpServer('127.0.0.1', overUdp(answer), {
        onUnsent: () => drops.resolve(),
      })
      const port = await server.listen('127.0.0.1', 0)
      const asked = askUdp('127.0.0.1', port, queryWith(1))
      await within(drops.promise, 'a dropped response')
      queued.mockReturnValue(262_144)
      const { message } = await askUdp('127.0.0.1', port, queryWith(2))
      assert.deepEqual(message, echo(queryWith(2)))
      asked.catch(() => undefined)
      await server.close()
    },
  )

  test('rejects when the port is in use, and closes its socket', async () => {
    const sockets = boundSockets()
    await withServer(echoQueries, async (port) => {
      const second = new UdpServer('127.0.0.1', overUdp(echoQueries))
      const error = await second.listen('127.0.0.1', port).catch((reason: unknown) => reason)
      assert.ok(error instanceof Error && 'code' in error)
      assert.equal(error.code, 'EADDRINUSE')
      assert.throws(() => sockets[1]?.address(), { code: 'ERR_SOCKET_DGRAM_NOT_RUNNING' })
    })
  })
})
