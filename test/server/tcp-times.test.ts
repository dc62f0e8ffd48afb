import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:tls'
import { describe, test, vi } from 'vitest'
import type { Answer } from '../../src/server/sockets/answer.ts'
import { TCP_LIMITS, type TcpLimits, TcpServer } from '../../src/server/sockets/tcp-server.ts'
import { SERVER } from '../certificates.ts'
import { echo, frame, queries, queryWith, TcpClient, within } from './clients.ts'
import { replaceTimers } from './timers.ts'
import { withServer } from './with-tcp-server.ts'

describe('TcpServer and time limits', () => {
  test('closes a connection that sends no message in time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await withServer(echo, async (port) => {
      const client = await TcpClient.open(port)
      for (let i = 1; i <= 3; i++) {
        client.socket.write(queries(1))
        await client.messages(i)
        vi.advanceTimersByTime(9_999)
      }
      vi.advanceTimersByTime(1)
      await within(client.closed, 'the end')
    })
  })

  test('closes a TLS connection whose handshake takes too long', async (t) => {
    const handshakeMs = 34_567
    const passHandshakeTime = replaceTimers(t, handshakeMs)
    const limits = (): TcpLimits => ({ ...TCP_LIMITS, handshakeMs })
    const server = new TcpServer(() => echo, limits, { ...SERVER, clientAuth: 'nocert' })
    const port = await server.listen('127.0.0.1', 0)
    t.onTestFinished(() => server.close())
    const silent = await TcpClient.open(port)
    for (let i = 0; i < 1000 && !silent.isClosed; i++) {
      passHandshakeTime()
      await new Promise(setImmediate)
    }
    assert.ok(silent.isClosed)
  })

  test('drops a TLS connection without a handshake for one with it', async (t) => {
    const limits = (): TcpLimits => ({ ...TCP_LIMITS, connectionsMax: 1 })
    const server = new TcpServer(() => echo, limits, { ...SERVER, clientAuth: 'nocert' })
    const port = await server.listen('127.0.0.1', 0)
    t.onTestFinished(() => server.close())
    const silent = await TcpClient.open(port)
    const secure = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
    t.onTestFinished(() => void secure.destroy())
    secure.write(queries(1))
    await within(once(secure, 'data'), 'an answer over TLS')
    await within(silent.closed, 'the end')
  })

  test('does not count a partial message', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const run = async (port: number): Promise<void> => {
      const [slow, other] = [await TcpClient.open(port), await TcpClient.open(port)]
      for (const [i, value] of queries(1).subarray(0, 20).entries()) {
        await slow.send(Uint8Array.of(value))
        other.socket.write(queries(1))
        await other.messages(i + 1)
        vi.advanceTimersByTime(1)
      }
      await within(slow.closed, 'the end')
      assert.equal(other.isClosed, false)
    }
    await withServer(echo, run, { readMs: 20 })
  })

  test('closes no connection with a query in flight', async (t) => {
    const idleMs = 12_345
    const passIdleTime = replaceTimers(t, idleMs)
    const asked = Promise.withResolvers<void>()
    const later = Promise.withResolvers<Uint8Array>()
    const answer: Answer = () => {
      asked.resolve()
      return later.promise
    }
    const run = async (port: number): Promise<void> => {
      const client = await TcpClient.open(port)
      client.socket.write(queries(1))
      await within(asked.promise, 'the query')
      for (let i = 0; i < 3; i++) passIdleTime()
      later.resolve(echo(queryWith(0)))
      await client.messages(1)
      passIdleTime()
      await within(client.closed, 'the end')
    }
    await withServer(answer, run, { readMs: idleMs, idleMs })
  })

  test('closes with the real clock', async () => {
    const run = async (port: number): Promise<void> => {
      await within((await TcpClient.open(port)).closed, 'the end')
    }
    await withServer(echo, run, { readMs: 20 })
  })

  test('closes a new connection sooner than one that has sent a message', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await withServer(echo, async (port) => {
      const [silent, other] = [await TcpClient.open(port), await TcpClient.open(port)]
      other.socket.write(queries(1))
      await other.messages(1)
      vi.advanceTimersByTime(3000)
      await within(silent.closed, 'the end')
      assert.equal(other.isClosed, false)
      other.destroy()
    })
  })

  test('closes a connection whose client does not read its responses', async (t) => {
    const writeMs = 23_456
    const passWriteTime = replaceTimers(t, writeMs)
    let count = 0
    const answer: Answer = () => {
      count++
      return new Uint8Array(60_000)
    }
    const run = async (port: number): Promise<void> => {
      const client = await TcpClient.open(port)
      client.socket.pause()
      client.socket.write(queries(1000))
      // Until the buffers between the two are full and the server takes no more queries.
      for (
        let before = 0, still = 0;
        still < 50;
        still = count > 0 && before === count ? still + 1 : 0
      ) {
        before = count
        await new Promise(setImmediate)
      }
      passWriteTime()
      client.socket.resume()
      await within(client.closed, 'the end')
      assert.ok(client.received.length < 1000)
    }
    await withServer(answer, run, { writeMs })
  })

  test('closes after queriesMax queries', async () => {
    const run = async (port: number): Promise<void> => {
      const client = await TcpClient.open(port)
      client.socket.write(queries(5))
      await client.messages(3)
      client.socket.end(frame(queryWith(9)))
      await within(client.closed, 'the end')
      assert.equal(client.received.length, 3)
    }
    await withServer(echo, run, { queriesMax: 3 })
  })

  test('answers the last query before it closes, even when that takes time', async () => {
    const later = Promise.withResolvers<Uint8Array>()
    const answer: Answer = (message) => (message[1] === 0 ? later.promise : echo(message))
    const run = async (port: number): Promise<void> => {
      const client = await TcpClient.open(port)
      client.socket.write(queries(4))
      await client.messages(1)
      later.resolve(echo(queryWith(0)))
      await client.messages(2)
      client.socket.end()
      await within(client.closed, 'the end')
      assert.equal(client.received.length, 2)
    }
    await withServer(answer, run, { queriesMax: 2 })
  })
})
