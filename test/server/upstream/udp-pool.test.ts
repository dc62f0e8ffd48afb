import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { readUint16 } from '../../../src/dns/bytes/bytes.ts'
import { QuestionlessError } from '../../../src/resolver/contract/host.ts'
import { UdpPool } from '../../../src/server/upstream/udp-pool.ts'
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
import { echo, type FakeServer, fakeUdp, LOOPBACKS, queryWith } from '../clients.ts'

type Asked = {
  readonly address: string
  readonly port: number
  readonly timeoutMs: number
  readonly sourceAddress?: string
}

function exchangeUdp(query: Uint8Array, { timeoutMs, ...upstream }: Asked): Promise<Uint8Array> {
  return new UdpPool(upstream).ask(query, timeoutMs)
}

function ask({ port }: FakeServer, timeoutMs = LONG_MS): Promise<Uint8Array> {
  return exchangeUdp(QUERY, { address: '127.0.0.1', port, timeoutMs })
}

describe('UdpPool', () => {
  for (const { name, message } of ACCEPTED) {
    test(`takes ${name}`, async (t) => {
      assert.deepEqual(await ask(await fakeUdp(t, () => [message])), message)
    })
  }

  for (const { name, message } of [
    ...STRAYS,
    ...QUESTIONLESS,
    { name: 'an empty datagram', message: new Uint8Array(0) },
  ]) {
    test(`passes over ${name}`, async (t) => {
      assert.deepEqual(await ask(await fakeUdp(t, () => [message, RIGHT])), RIGHT)
    })
  }

  for (const { name, message } of QUESTIONLESS) {
    test(`reports ${name} after a moment if nothing better comes`, async (t) => {
      await assert.rejects(ask(await fakeUdp(t, () => [message, message])), QuestionlessError)
    })
  }

  const stray = changed(RIGHT, 0, 0x99)
  test('passes over any number of answers to something else', async (t) => {
    const messages = [...Array.from({ length: 100 }, () => stray), RIGHT]
    assert.deepEqual(await ask(await fakeUdp(t, () => messages)), RIGHT)
  })

  test('times out', async (t) => {
    await assert.rejects(ask(await fakeUdp(t, () => []), SHORT_MS), {
      message: 'no response over UDP in time',
    })
  })

  test('hears no answer from another port', async (t) => {
    const other = createSocket('udp4')
    t.onTestFinished(() => void other.close())
    const forged = new Uint8Array([...RIGHT, 0xff])
    const server = await fakeUdp(t, (_, clientPort) => {
      other.send(forged, clientPort, '127.0.0.1')
      return [RIGHT]
    })
    assert.deepEqual(await ask(server), RIGHT)
  })

  test('is not disturbed by an answer that comes too late', async (t) => {
    const other = createSocket('udp4')
    t.onTestFinished(() => void other.close())
    const first = Promise.withResolvers<number>()
    let count = 0
    const server = await fakeUdp(t, (query, clientPort) => {
      first.resolve(clientPort)
      return count++ === 0 ? [] : [echo(query)]
    })
    await assert.rejects(ask(server, SHORT_MS), { message: 'no response over UDP in time' })
    other.send(RIGHT, await first.promise, '127.0.0.1')
    assert.deepEqual(await ask(server), RIGHT)
  })

  test('uses another port for each query', async (t) => {
    const ports = new Set<number>()
    const server = await fakeUdp(t, (query, clientPort) => {
      ports.add(clientPort)
      return [echo(query)]
    })
    const asked = Array.from({ length: 8 }, (_, id) =>
      exchangeUdp(queryWith(id), { address: '127.0.0.1', port: server.port, timeoutMs: LONG_MS }),
    )
    const replies = await Promise.all(asked)
    assert.deepEqual(
      replies.map((reply) => readUint16(reply, 0)),
      [0, 1, 2, 3, 4, 5, 6, 7],
    )
    assert.equal(ports.size, 8)
  })

  for (const address of LOOPBACKS) {
    test(`queries ${address}`, async (t) => {
      const server = await fakeUdp(t, (query) => [echo(query)], address)
      const reply = await exchangeUdp(QUERY, { address, port: server.port, timeoutMs: LONG_MS })
      assert.deepEqual(reply, RIGHT)
    })
  }

  test('uses the source address', async (t) => {
    const server = await fakeUdp(t, (query) => [echo(query)])
    const { port } = server
    const there = { address: '127.0.0.1', port, timeoutMs: LONG_MS }
    const reply = await exchangeUdp(QUERY, { ...there, sourceAddress: '127.0.0.9' })
    assert.deepEqual(reply, RIGHT)
    await assert.rejects(
      exchangeUdp(QUERY, { ...there, sourceAddress: '192.0.2.9' }),
      /EADDRNOTAVAIL/,
    )
  })

  test('reports a closed port', async (t) => {
    const { port, close } = await fakeUdp(t, () => [])
    await close()
    const asked = exchangeUdp(QUERY, { address: '127.0.0.1', port, timeoutMs: LONG_MS })
    await assert.rejects(asked, /ECONNREFUSED/)
  })

  test('reports an unreachable address', async () => {
    // The system sends nothing to this address for a socket that did not ask to broadcast.
    const asked = exchangeUdp(QUERY, { address: '255.255.255.255', port: 53, timeoutMs: LONG_MS })
    await assert.rejects(asked, /^Error: connect E/)
  })

  test('has 128 sockets at most, and the right answer to each of 200 queries', async (t) => {
    const ports = new Set<number>()
    const server = await fakeUdp(t, (query, clientPort) => {
      ports.add(clientPort)
      return [echo(query)]
    })
    const pool = new UdpPool({ address: '127.0.0.1', port: server.port })
    const names = Array.from({ length: 200 }, (_, i) => `n${i}.example.org`)
    // All with one ID: on a socket that they share, they cannot have it.
    const asked = names.map((name) => pool.ask(queryWith(7, name), LONG_MS))
    const replies = await Promise.all(asked)
    assert.deepEqual(
      replies,
      names.map((name) => echo(queryWith(7, name))),
    )
    assert.ok(ports.size <= 128 && ports.size > 100, `${ports.size} ports`)
  })

  test('ends a query by its signal', async (t) => {
    const arrived = Promise.withResolvers<void>()
    const server = await fakeUdp(t, (query) => {
      if (readUint16(query, 0) !== 1) return [echo(query)]
      arrived.resolve()
      return []
    })
    const pool = new UdpPool({ address: '127.0.0.1', port: server.port })
    const aborter = new AbortController()
    const first = pool.ask(queryWith(1), LONG_MS, aborter.signal)
    await arrived.promise
    aborter.abort()
    await assert.rejects(first, { message: 'aborted' })
    const second = pool.ask(queryWith(2), LONG_MS, new AbortController().signal)
    assert.deepEqual(await second, echo(queryWith(2)))
  })

  test('drops the oldest query beyond 4,096', async (t) => {
    const { port } = await fakeUdp(t, () => [])
    const pool = new UdpPool({ address: '127.0.0.1', port })
    const outcomes = Array.from({ length: 4098 }, () =>
      pool.ask(queryWith(0), 50 * SHORT_MS).catch((error: unknown) => String(error)),
    )
    const texts = await Promise.all(outcomes)
    const overload = 'OverloadError: too many queries under way'
    const late = 'Error: no response over UDP in time'
    const wanted = [overload, overload, ...Array.from({ length: 4096 }, () => late)]
    assert.deepEqual(texts, wanted)
  })

  test('takes the answer, whatever came before it', async (t) => {
    const strays = fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 20 })
    const property = fc.asyncProperty(strays, async (messages) => {
      const different = messages.map((message) => Uint8Array.of(0xff, ...message))
      const server = await fakeUdp(t, () => [...different, RIGHT])
      assert.deepEqual(await ask(server), RIGHT)
    })
    await fc.assert(property, { numRuns: 30 })
  })
})
