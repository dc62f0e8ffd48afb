import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, type TestContext, test } from 'vitest'
import { readUint16 } from '../../../src/dns/bytes/bytes.ts'
import {
  ConnectionLostError,
  type ConnectionOptions,
  StreamConnection,
} from '../../../src/server/upstream/stream-connection.ts'
import { LONG_MS, QUERY, RIGHT, SHORT_MS } from '../answer-samples.ts'
import { echo, type FakeServer, fakeTcp, frame, ids, queryWith, within } from '../clients.ts'

const UNOBSERVED: ConnectionOptions = {
  now: () => 0,
  expireMs: LONG_MS,
  onIdle: () => undefined,
  onTimeout: () => undefined,
}

/** A connection to a server, ended with its test; `idle` counts how often nothing was under way. */
function connectTo(
  t: TestContext,
  { port }: FakeServer,
  expireMs = LONG_MS,
): { connection: StreamConnection; seen: { idle: number } } {
  const seen = { idle: 0 }
  const socket = connect(port, '127.0.0.1')
  const onIdle = (): void => {
    seen.idle++
  }
  const connection = new StreamConnection(socket, { ...UNOBSERVED, expireMs, onIdle })
  t.onTestFinished(() => connection.end())
  return { connection, seen }
}

describe('StreamConnection', () => {
  test('has many queries under way, and takes answers in any order', async (t) => {
    const waiting: (() => void)[] = []
    const server = await fakeTcp(t, (query, socket) => {
      waiting.unshift(() => socket.write(frame(echo(query))))
      if (waiting.length === 20) for (const answer of waiting) answer()
    })
    const { connection, seen } = connectTo(t, server)
    const asked = Array.from({ length: 20 }, (_, id) =>
      connection.ask(queryWith(id, `n${id}.example.org`), LONG_MS),
    )
    assert.equal(connection.pendingCount, 20)
    const replies = await Promise.all(asked)
    assert.deepEqual(
      replies,
      Array.from({ length: 20 }, (_, id) => echo(queryWith(id, `n${id}.example.org`))),
    )
    assert.deepEqual([connection.pendingCount, seen.idle, connection.hasAnswered], [0, 1, true])
  })

  test('sends queries with the same ID under different ones', async (t) => {
    const sent: Uint8Array[] = []
    const server = await fakeTcp(t, (query, socket) => {
      sent.push(query)
      socket.write(frame(echo(query)))
    })
    const { connection } = connectTo(t, server)
    const names = ['a.example.org', 'b.example.org', 'c.example.org']
    const queries = names.map((name) => queryWith(0xffff, name))
    const replies = await Promise.all(queries.map((query) => connection.ask(query, LONG_MS)))
    assert.deepEqual(ids(sent), [0xffff, 0, 1])
    assert.deepEqual(replies, queries.map(echo))
    assert.ok(queries.every((query) => readUint16(query, 0) === 0xffff))
  })

  test('ends a query by its signal, and stays open', async (t) => {
    const arrived = Promise.withResolvers<void>()
    const server = await fakeTcp(t, (query, socket) => {
      if (readUint16(query, 0) === 1) arrived.resolve()
      else socket.write(frame(echo(query)))
    })
    const { connection, seen } = connectTo(t, server)
    const aborter = new AbortController()
    const first = connection.ask(queryWith(1), LONG_MS, aborter.signal)
    await arrived.promise
    aborter.abort()
    await assert.rejects(first, { message: 'aborted' })
    assert.deepEqual([connection.pendingCount, seen.idle, connection.isOpen], [0, 1, true])
    const second = connection.ask(queryWith(2), LONG_MS, aborter.signal)
    assert.deepEqual(await second, echo(queryWith(2)))
  })

  test('accepts no queries after a timeout, but completes the others', async (t) => {
    const late = Promise.withResolvers<() => void>()
    const server = await fakeTcp(t, (query, socket) => {
      if (readUint16(query, 0) === 2) late.resolve(() => socket.write(frame(echo(query))))
    })
    const { connection, seen } = connectTo(t, server)
    const first = connection.ask(queryWith(1), SHORT_MS)
    const second = connection.ask(queryWith(2), LONG_MS)
    await assert.rejects(first, { message: 'no response over TCP in time' })
    assert.equal(connection.isOpen, false)
    const answer = await late.promise
    answer()
    assert.deepEqual(await second, echo(queryWith(2)))
    assert.equal(seen.idle, 0)
  })

  test('rejects all pending queries when it is lost', async (t) => {
    let count = 0
    const server = await fakeTcp(t, (_, socket) => {
      if (++count === 2) socket.destroy()
    })
    const { connection } = connectTo(t, server)
    const asked = [1, 2].map((id) => connection.ask(queryWith(id), LONG_MS))
    for (const one of asked) await assert.rejects(one, ConnectionLostError)
    assert.equal(connection.isOpen, false)
  })

  test('closes after its idle time', async (t) => {
    const closed = Promise.withResolvers<void>()
    const server = await fakeTcp(t, (query, socket) => {
      socket.once('close', () => closed.resolve())
      socket.write(frame(echo(query)))
    })
    const { connection } = connectTo(t, server, SHORT_MS)
    assert.deepEqual(await connection.ask(QUERY, LONG_MS), RIGHT)
    await within(closed.promise, 'the end of an idle connection')
    assert.equal(connection.isOpen, false)
  })

  test('does not end while an answer is waited for', async (t) => {
    const server = await fakeTcp(t, (query, socket) => {
      setTimeout(() => socket.write(frame(echo(query))), 3 * SHORT_MS)
    })
    const { connection } = connectTo(t, server, SHORT_MS)
    assert.deepEqual(await connection.ask(QUERY, LONG_MS), RIGHT)
  })

  test('is lost when the server closes it between queries', async (t) => {
    const server = await fakeTcp(t, (query, socket) => {
      socket.end(frame(echo(query)))
    })
    const socket = connect(server.port, '127.0.0.1')
    const connection = new StreamConnection(socket, UNOBSERVED)
    await connection.ask(QUERY, LONG_MS)
    await once(socket, 'close')
    assert.equal(connection.isOpen, false)
  })
})
