import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { describe, test, vi } from 'vitest'
import type { Answer } from '../../../src/server/sockets/answer.ts'
import { echo, ids, queries, TcpClient, within } from '../clients.ts'
import { withServer } from '../with-tcp-server.ts'

describe('TcpConnection', () => {
  test('stops answering a client that does not read', async () => {
    let answered = 0
    const answer: Answer = () => {
      answered++
      return new Uint8Array(14_000)
    }
    const run = async (port: number): Promise<void> => {
      const client = await TcpClient.open(port)
      client.socket.pause()
      client.socket.write(queries(2000))
      for (let before = 0, still = 0; still < 200; ) {
        still = answered > 0 && answered === before ? still + 1 : 0
        before = answered
        await new Promise(setImmediate)
      }
      // The kernel buffers at most 10 MiB for both ends.
      assert.ok(answered < 1000, `${answered} answers`)
      client.destroy()
    }
    await withServer(answer, run)
  })

  test('sends the responses to the queries of one chunk with one write', async () => {
    const run = async (port: number): Promise<void> => {
      const client = await TcpClient.open(port)
      const writes = vi.spyOn(Socket.prototype, 'write')
      client.socket.write(queries(20))
      const messages = await client.messages(20)
      const count = writes.mock.calls.length
      writes.mockRestore()
      assert.deepEqual(
        ids(messages),
        Array.from({ length: 20 }, (_, i) => i),
      )
      assert.equal(count, 2, 'one write of the client, one of the server')
      client.destroy()
    }
    await withServer(echo, run)
  })

  test('answers the queries before a message that is none', async () => {
    const run = async (port: number): Promise<void> => {
      const client = await TcpClient.open(port)
      client.socket.write(Buffer.concat([queries(2), Buffer.from([0, 1, 7])]))
      assert.equal((await client.messages(2)).length, 2)
      await within(client.closed, 'the end')
    }
    await withServer(echo, run)
  })

  test('answers few queries in a turn whose answers are promises, of however many clients', async () => {
    let [inTurn, most] = [0, 0]
    const answer: Answer = async (message) => {
      await undefined
      if (inTurn === 0) setImmediate(() => (inTurn = 0))
      most = Math.max(most, ++inTurn)
      return echo(message)
    }
    const run = async (port: number): Promise<void> => {
      const clients = await Promise.all(Array.from({ length: 20 }, () => TcpClient.open(port)))
      for (const { socket } of clients) socket.write(queries(50))
      await Promise.all(clients.map((client) => client.messages(50)))
      for (const client of clients) client.destroy()
    }
    await withServer(answer, run)
    assert.ok(most <= 40, `${most} answers in one turn`)
  })

  test('answers other clients between the queries of one chunk', async () => {
    let answered = 0
    const answer: Answer = (message) => {
      answered++
      // As slow as a synchronous answer may be.
      for (const end = performance.now() + 0.2; performance.now() < end; );
      return echo(message)
    }
    const run = async (port: number): Promise<void> => {
      const [many, one] = [await TcpClient.open(port), await TcpClient.open(port)]
      many.socket.write(queries(1000))
      await many.messages(1)
      const before = answered
      one.socket.write(queries(1))
      await one.messages(1)
      assert.ok(answered - before < 500, `${answered - before} answers to another client first`)
      await many.messages(1000)
      for (const client of [many, one]) client.destroy()
    }
    await withServer(answer, run)
  })

  test('closes when a partial message is not complete in time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const run = async (port: number): Promise<void> => {
      const [slow, other] = [await TcpClient.open(port), await TcpClient.open(port)]
      slow.socket.write(Buffer.concat([queries(1), queries(1).subarray(0, 9)]))
      await slow.messages(1)
      other.socket.write(queries(1))
      await other.messages(1)
      vi.advanceTimersByTime(3000)
      await within(slow.closed, 'the end')
      assert.equal(other.isClosed, false)
      other.destroy()
    }
    await withServer(echo, run, { readMs: 3000, idleMs: 10_000 })
  })
})
