import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { readUint16 } from '../../../src/dns/bytes/bytes.ts'
import type { Client } from '../../../src/resolver/contract/client.ts'
import { localAddresses } from '../../../src/server/node/local-addresses.ts'
import type { Answer } from '../../../src/server/sockets/answer.ts'
import { TCP_LIMITS, TcpServer } from '../../../src/server/sockets/tcp-server.ts'
import {
  echo,
  frame,
  ids,
  isServed,
  isServedSoon,
  LOOPBACKS,
  queries,
  queryWith,
  settle,
  TcpClient,
  within,
} from '../clients.ts'
import { withServer } from '../with-tcp-server.ts'

describe('TcpServer', () => {
  test('sends messages ahead of a reply, as fast as the client takes them', async () => {
    const count = 200
    let ahead = 0
    const answer: Answer = async (message, { sendAhead }) => {
      const large = new Uint8Array(60_000)
      large.set(echo(message))
      for (; ahead < count; ahead++) await sendAhead?.(large)
      return echo(message)
    }
    await withServer(answer, async (port) => {
      const client = await TcpClient.open(port)
      client.socket.pause()
      await client.send(frame(queryWith(7)))
      await new Promise((resolve) => setTimeout(resolve, 200))
      assert.ok(ahead < count, 'the server waits for the client')
      client.socket.resume()
      const messages = await client.messages(count + 1)
      assert.deepEqual(messages.at(-1), echo(queryWith(7)))
      assert.ok(messages.slice(0, -1).every(({ length }) => length === 60_000))
      client.destroy()
    })
  })

  for (const address of LOOPBACKS) {
    test(`answers on ${address} with both ends of the connection`, async () => {
      const clients: Client[] = []
      const answer: Answer = (message, client) => {
        clients.push(client)
        return echo(message)
      }
      const run = async (port: number): Promise<void> => {
        const client = await TcpClient.open(port, address)
        await client.send(frame(queryWith(7)))
        assert.deepEqual(await client.messages(1), [echo(queryWith(7))])
        const [{ sendAhead, ...who } = assert.fail('nobody asked')] = clients
        assert.ok(sendAhead)
        const from = { address, port: client.socket.localPort, transport: 'tcp' }
        assert.deepEqual(who, { ...from, localAddress: address, localPort: port })
        client.destroy()
      }
      await withServer(answer, run, { address })
    })
  }

  test('answers however the stream is segmented', async () => {
    const places = fc.array(fc.nat({ max: 3 * 33 }), { maxLength: 12 })
    await withServer(echo, async (port) => {
      const property = fc.asyncProperty(places, async (cuts) => {
        const client = await TcpClient.open(port)
        const bytes = queries(3)
        const sorted = [0, ...cuts, bytes.length].sort((a, b) => a - b)
        for (const [i, start] of sorted.entries()) {
          await client.send(bytes.subarray(start, sorted[i + 1]))
        }
        assert.deepEqual(ids(await client.messages(3)), [0, 1, 2])
        client.destroy()
      })
      await fc.assert(property, { numRuns: 40 })
    })
  })

  test('answers 1,000 pipelined queries, now and later', async () => {
    const answer: Answer = (message) =>
      readUint16(message, 0) % 2 === 0 ? echo(message) : Promise.resolve(echo(message))
    await withServer(answer, async (port) => {
      const client = await TcpClient.open(port)
      client.socket.write(queries(1000))
      const got = ids(await client.messages(1000)).sort((a, b) => a - b)
      assert.deepEqual(
        got,
        Array.from({ length: 1000 }, (_, i) => i),
      )
      client.destroy()
    })
  })

  test('answers each query as soon as its response is ready', async () => {
    const first = Promise.withResolvers<Uint8Array>()
    const answer: Answer = (message) =>
      readUint16(message, 0) === 0 ? first.promise : echo(message)
    await withServer(answer, async (port) => {
      const client = await TcpClient.open(port)
      client.socket.write(queries(3))
      assert.deepEqual(ids(await client.messages(2)), [1, 2])
      first.resolve(echo(queryWith(0)))
      assert.deepEqual(ids(await client.messages(3)), [1, 2, 0])
      client.destroy()
    })
  })

  test('sends nothing without a response, and continues', async () => {
    const answer: Answer = (message) => {
      const id = readUint16(message, 0)
      if (id === 0) return undefined
      return id === 1 ? Promise.resolve(undefined) : echo(message)
    }
    await withServer(answer, async (port) => {
      const client = await TcpClient.open(port)
      client.socket.write(queries(3))
      await client.messages(1)
      client.socket.write(queries(1, 9))
      assert.deepEqual(ids(await client.messages(2)), [2, 9])
      client.destroy()
    })
  })

  test('answers a client that has closed its side, then closes', async () => {
    const later = Promise.withResolvers<Uint8Array>()
    const answer: Answer = (message) =>
      readUint16(message, 0) === 1 ? later.promise : echo(message)
    await withServer(answer, async (port) => {
      const client = await TcpClient.open(port)
      client.socket.end(queries(3))
      assert.deepEqual(ids(await client.messages(2)), [0, 2])
      await settle(port)
      assert.equal(client.isClosed, false)
      later.resolve(echo(queryWith(1)))
      assert.deepEqual(ids(await client.messages(3)), [0, 2, 1])
      await within(client.closed, 'the end')
    })
  })

  const nonsense: { name: string; bytes: Uint8Array }[] = [
    { name: 'an empty message', bytes: Uint8Array.of(0, 0) },
    { name: 'a message of 11 bytes', bytes: frame(new Uint8Array(11)) },
  ]
  for (const { name, bytes } of nonsense) {
    test(`closes on ${name}, and ignores what follows`, async () => {
      const seen: number[] = []
      const answer: Answer = (message) => {
        seen.push(readUint16(message, 0))
        return echo(message)
      }
      await withServer(answer, async (port) => {
        const client = await TcpClient.open(port)
        client.socket.write(Buffer.concat([bytes, queries(2, 5)]))
        await within(client.closed, 'the end')
        assert.deepEqual([client.received, seen], [[], []])
        assert.ok(await isServed(port))
      })
    })
  }

  test('survives any bytes and any kind of disconnect', async () => {
    const answer: Answer = (message) => Promise.resolve(echo(message))
    await withServer(answer, async (port) => {
      const bytes = fc.uint8Array({ maxLength: 400 })
      const property = fc.asyncProperty(bytes, fc.boolean(), async (garbage, isReset) => {
        const client = await TcpClient.open(port)
        client.socket.write(garbage)
        if (isReset) client.socket.resetAndDestroy()
        else client.socket.end()
        await within(client.closed, 'the end')
        assert.ok(await isServed(port))
      })
      await fc.assert(property, { numRuns: 40 })
    })
  })

  test('rejects when the port is in use', async () => {
    await withServer(echo, async (port) => {
      const second = new TcpServer(() => echo)
      await assert.rejects(second.listen('127.0.0.1', port), { code: 'EADDRINUSE' })
    })
  })

  test('uses the current function for each message', async (t) => {
    const replies = [Uint8Array.of(0xaa), Uint8Array.of(0xbb)]
    const server = new TcpServer(() => {
      const reply = replies.shift()
      return () => reply
    })
    t.onTestFinished(() => server.close())
    const client = await TcpClient.open(await server.listen('127.0.0.1', 0))
    client.socket.write(queries(2))
    assert.deepEqual(await client.messages(2), [Uint8Array.of(0xaa), Uint8Array.of(0xbb)])
  })

  test('close ends open connections', async () => {
    const server = new TcpServer(
      () => echo,
      () => ({ ...TCP_LIMITS, readMs: 60_000 }),
    )
    const port = await server.listen('127.0.0.1', 0)
    const clients = await Promise.all([TcpClient.open(port), TcpClient.open(port)])
    try {
      await settle(port)
      await within(server.close(), 'the server to close')
      await within(Promise.all(clients.map(({ closed }) => closed)), 'the end')
    } finally {
      for (const client of clients) client.destroy()
    }
  })

  test('finish ends each served connection after its last response', async (t) => {
    const later = Promise.withResolvers<Uint8Array>()
    const server = new TcpServer(
      () => (message) => (readUint16(message, 0) === 9 ? later.promise : echo(message)),
      () => ({ ...TCP_LIMITS, readMs: 60_000, idleMs: 60_000 }),
    )
    t.onTestFinished(() => server.close())
    const port = await server.listen('127.0.0.1', 0)
    const open = (): Promise<TcpClient> => TcpClient.open(port)
    const [fresh, idle, busy, cut] = await Promise.all([open(), open(), open(), open()])
    idle.socket.write(queries(1))
    busy.socket.write(Buffer.concat([queries(1, 9), queries(1)]))
    cut.socket.write(Buffer.concat([queries(1), Uint8Array.of(0)]))
    await Promise.all([idle, busy, cut].map((client) => client.messages(1)))
    server.finish()
    await within(idle.closed, 'the end')
    later.resolve(echo(queryWith(9)))
    assert.deepEqual(ids(await busy.messages(2)), [0, 9])
    await within(busy.closed, 'the end')
    assert.deepEqual([fresh.isClosed, cut.isClosed], [false, false])
    fresh.socket.write(queries(1))
    assert.deepEqual(ids(await fresh.messages(1)), [0])
  })
})

describe('TcpServer and its limits', () => {
  test('drops an idle connection of a client over its limit, but of no other client', async () => {
    const limits = { connectionsPerClientMax: 2, address: '0.0.0.0' }
    const own = localAddresses().filter((address) => !address.includes(':'))
    const run = async (port: number): Promise<void> => {
      // A client that connects to an address of its own machine has that address.
      const first = await Promise.all(own.map((address) => TcpClient.open(port, address)))
      const [oldest, other] = [first[0], await served(port, own[0])]
      const third = await served(port, own[0])
      await within(oldest?.closed ?? Promise.resolve(), 'the end of the oldest')
      for (const client of [...first.slice(1), other, third]) {
        assert.equal(client.isClosed, false)
        client.destroy()
      }
    }
    await withServer(echo, run, limits)
  })

  test('drops the connection that has been idle longest when the table is full', async () => {
    const run = async (port: number): Promise<void> => {
      const clients = [await served(port), await TcpClient.open(port), await served(port)]
      await within(clients[1]?.closed ?? Promise.resolve(), 'the end of the one without a query')
      clients.push(await served(port))
      await within(clients[0]?.closed ?? Promise.resolve(), 'the end of the oldest')
      for (const client of clients) client.destroy()
    }
    await withServer(echo, run, { connectionsMax: 2 })
  })

  test('refuses a connection when all others wait for responses', async () => {
    const later = Promise.withResolvers<Uint8Array>()
    const asked = Promise.withResolvers<void>()
    const answer: Answer = () => {
      asked.resolve()
      return later.promise
    }
    const run = async (port: number): Promise<void> => {
      const client = await TcpClient.open(port)
      client.socket.write(queries(1))
      await within(asked.promise, 'the query')
      await within((await TcpClient.open(port)).closed, 'the end of the second')
      later.resolve(echo(queryWith(0)))
      await client.messages(1)
      client.destroy()
    }
    await withServer(answer, run, { connectionsMax: 1 })
  })

  test('has room again after a connection closes', async () => {
    const run = async (port: number): Promise<void> => {
      for (let i = 0; i < 20; i++) assert.ok(await isServedSoon(port))
    }
    await withServer(echo, run, { connectionsPerClientMax: 1 })
  })

  test('takes no more than pendingMax queries, even out of one chunk', async () => {
    const waiting: { readonly id: number; readonly resolve: (reply: Uint8Array) => void }[] = []
    const answer: Answer = (message) => {
      const id = readUint16(message, 0)
      if (id === 0xffff) return echo(message)
      const { promise, resolve } = Promise.withResolvers<Uint8Array>()
      waiting.push({ id, resolve })
      return promise
    }
    const run = async (port: number): Promise<void> => {
      const client = await TcpClient.open(port)
      client.socket.write(queries(10))
      for (let done = 0; done < 10; done++) {
        await settle(port)
        assert.equal(waiting.length, Math.min(done + 3, 10))
        waiting[done]?.resolve(echo(queryWith(done)))
        await client.messages(done + 1)
      }
      assert.deepEqual(
        waiting.map(({ id }) => id),
        ids(client.received),
      )
      client.destroy()
    }
    await withServer(answer, run, { pendingMax: 3 })
  })

  test('answers all of a long chunk before it closes', async () => {
    const answer: Answer = (message) => Promise.resolve(echo(message))
    const run = async (port: number): Promise<void> => {
      const client = await TcpClient.open(port)
      client.socket.end(queries(100))
      assert.equal((await client.messages(100)).length, 100)
      await within(client.closed, 'the end')
    }
    await withServer(answer, run, { pendingMax: 1 })
  })

  test('takes no queries from a client that leaves responses unread, until it reads', async () => {
    const count = 1500
    const seen: number[] = []
    const reply = new Uint8Array(65_535)
    const answer: Answer = (message) => {
      const id = readUint16(message, 0)
      if (id === 0xffff) return echo(message)
      seen.push(id)
      return reply
    }
    await withServer(answer, async (port) => {
      const client = await TcpClient.open(port)
      client.socket.pause()
      client.socket.end(queries(count))
      await settle(port)
      // The kernel's buffers of both ends add to the limit of 1 MiB.
      assert.ok(seen.length < 500, `${seen.length} answers were made`)
      client.socket.resume()
      assert.equal((await client.messages(count)).length, count)
      assert.equal(seen.length, count)
      await within(client.closed, 'the end')
    })
  })
})

/** Opens a connection with an answered query. */
async function served(port: number, address?: string): Promise<TcpClient> {
  const client = await TcpClient.open(port, address)
  client.socket.write(queries(1))
  await client.messages(1)
  return client
}
