import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, type TestContext, test } from 'vitest'
import { ConnectionPool, type PoolOptions } from '../../../src/server/upstream/connection-pool.ts'
import { LONG_MS, QUERY, RIGHT, SHORT_MS } from '../answer-samples.ts'
import { echo, type FakeServer, fakeTcp, frame, queryWith, within } from '../clients.ts'

const LONG = { timeoutMs: LONG_MS }
const SHORT = { timeoutMs: SHORT_MS }

/**
 * A pool of connections to a server, closed with its test, and whether each connection that it
 * reports is reused.
 */
function poolFor(
  t: TestContext,
  { port }: FakeServer,
  options: Partial<PoolOptions> = {},
): { pool: ConnectionPool; reported: boolean[] } {
  const reported: boolean[] = []
  const pool = new ConnectionPool(() => connect(port, '127.0.0.1'), {
    expireMs: LONG_MS,
    ageMsMax: 0,
    idleMax: 0,
    onConnection: (isReused) => reported.push(isReused),
    ...options,
  })
  t.onTestFinished(() => pool.close())
  return { pool, reported }
}

/** A server that answers at once, and the connections on which it was asked, in order. */
async function answering(t: TestContext): Promise<{ server: FakeServer; sockets: Socket[] }> {
  const sockets: Socket[] = []
  const server = await fakeTcp(t, (query, socket) => {
    sockets.push(socket)
    socket.write(frame(echo(query)))
  })
  return { server, sockets }
}

describe('ConnectionPool', () => {
  test('sends queries in turn on one connection', async (t) => {
    const { server, sockets } = await answering(t)
    const { pool, reported } = poolFor(t, server)
    for (let i = 0; i < 3; i++) assert.deepEqual(await pool.ask(QUERY, LONG), RIGHT)
    assert.equal(new Set(sockets).size, 1)
    assert.deepEqual(reported, [false, true, true])
  })

  test('sends concurrent queries on separate connections', async (t) => {
    const { server, sockets } = await answering(t)
    const { pool, reported } = poolFor(t, server)
    await Promise.all([1, 2, 3].map((id) => pool.ask(queryWith(id), LONG)))
    assert.equal(new Set(sockets).size, 3)
    assert.deepEqual(reported, [false, false, false])
  })

  test('puts queries on 64 connections at most, and refuses those beyond 64 on each', async (t) => {
    const sockets = new Set<Socket>()
    let count = 0
    const all = Promise.withResolvers<void>()
    const server = await fakeTcp(t, (_, socket) => {
      sockets.add(socket)
      if (++count === 64 * 64) all.resolve()
    })
    const { pool } = poolFor(t, server)
    const asked = Array.from({ length: 64 * 64 }, (_, id) =>
      pool.ask(queryWith(id), { timeoutMs: 60_000 }),
    )
    await within(all.promise, 'all queries')
    assert.equal(sockets.size, 64)
    await assert.rejects(pool.ask(QUERY, LONG), { message: 'too many queries under way' })
    for (const socket of sockets) socket.destroy()
    for (const outcome of await Promise.allSettled(asked)) assert.equal(outcome.status, 'rejected')
  })

  test('retries on a new connection if a reused one is closed', async (t) => {
    let count = 0
    const server = await fakeTcp(t, (query, socket) => {
      if (++count === 2) socket.destroy()
      else socket.write(frame(echo(query)))
    })
    const { pool, reported } = poolFor(t, server)
    assert.deepEqual(await pool.ask(QUERY, LONG), RIGHT)
    assert.deepEqual(await pool.ask(QUERY, LONG), RIGHT)
    assert.deepEqual(reported, [false, true, false])
  })

  test('does not retry on a new connection or after a timeout', async (t) => {
    let count = 0
    const third = Promise.withResolvers<void>()
    const server = await fakeTcp(t, (query, socket) => {
      if (++count === 1) socket.destroy()
      else if (count === 2) socket.write(frame(echo(query)))
      else third.resolve()
    })
    const { pool } = poolFor(t, server)
    await assert.rejects(pool.ask(QUERY, LONG))
    assert.deepEqual(await pool.ask(QUERY, LONG), RIGHT)
    await assert.rejects(pool.ask(QUERY, SHORT), { message: 'no response over TCP in time' })
    // The time may be over before the server has read the query.
    await within(third.promise, 'the third query')
    assert.equal(count, 3)
  })

  test('leaves all connections that were silent while a query waited in vain', async (t) => {
    let isSilent = false
    const old = new Set<Socket>()
    const server = await fakeTcp(t, (query, socket) => {
      if (!isSilent) old.add(socket)
      if (!isSilent || !old.has(socket)) socket.write(frame(echo(query)))
    })
    const { pool, reported } = poolFor(t, server)
    const many = Array.from({ length: 40 }, (_, id) => queryWith(id))
    await Promise.all(many.map((query) => pool.ask(query, LONG)))
    const closed = Promise.all([...old].map((socket) => once(socket, 'close')))
    isSilent = true
    reported.length = 0
    await assert.rejects(pool.ask(QUERY, SHORT), { message: 'no response over TCP in time' })
    assert.deepEqual(await pool.ask(QUERY, LONG), RIGHT)
    assert.deepEqual(reported, [true, false])
    await within(closed, 'the end of forty connections')
  })

  test('keeps a connection that answered while another query waited in vain', async (t) => {
    const silent = queryWith(7, 'silent.test')
    const server = await fakeTcp(t, (query, socket) => {
      if (query.length !== silent.length) socket.write(frame(echo(query)))
    })
    let nowMs = 0
    const { pool, reported } = poolFor(t, server, { now: () => nowMs++ })
    await Promise.all([1, 2].map((id) => pool.ask(queryWith(id), LONG)))
    const waiting = assert.rejects(pool.ask(silent, { timeoutMs: 10 * SHORT_MS }))
    await pool.ask(QUERY, LONG)
    await waiting
    await pool.ask(QUERY, LONG)
    assert.deepEqual(reported, [false, false, true, true, true])
  })

  test('repeats a query on a connection that is not older than its first attempt', async (t) => {
    const { server, sockets } = await answering(t)
    let nowMs = 0
    const { pool, reported } = poolFor(t, server, { now: () => nowMs })
    for (const [at, connectionAgeMsMax] of [
      [0, undefined],
      [100, 99],
      [150, 50],
      [200, 49],
    ] as const) {
      nowMs = at
      await pool.ask(QUERY, { ...LONG, ...(connectionAgeMsMax && { connectionAgeMsMax }) })
    }
    assert.deepEqual(reported, [false, false, true, false])
    assert.equal(new Set(sockets).size, 3)
  })

  test('makes room for a repeated query among 64 idle connections', async (t) => {
    const { server, sockets } = await answering(t)
    let nowMs = 0
    const { pool, reported } = poolFor(t, server, { now: () => nowMs })
    await Promise.all(Array.from({ length: 64 }, (_, id) => pool.ask(queryWith(id), LONG)))
    const [first] = sockets
    const closed = first && once(first, 'close')
    nowMs = 1
    await pool.ask(QUERY, { ...LONG, connectionAgeMsMax: 0 })
    await within(closed ?? Promise.reject(new Error('no connection')), 'the end of the oldest')
    assert.equal(reported.at(-1), false)
  })

  test('closes connections at their maximum age', async (t) => {
    const { server, sockets } = await answering(t)
    let nowMs = 0
    const { pool, reported } = poolFor(t, server, { ageMsMax: 1000, now: () => nowMs })
    for (const at of [0, 999, 1000, 1500]) {
      nowMs = at
      await pool.ask(QUERY, LONG)
    }
    assert.deepEqual(reported, [false, true, false, true])
    assert.equal(new Set(sockets).size, 2)
  })

  test('bounds the number of idle connections', async (t) => {
    const { server } = await answering(t)
    const { pool, reported } = poolFor(t, server, { idleMax: 1 })
    await Promise.all([1, 2, 3].map((id) => pool.ask(queryWith(id), LONG)))
    reported.length = 0
    await Promise.all([1, 2, 3].map((id) => pool.ask(queryWith(id), LONG)))
    assert.deepEqual(reported, [true, false, false])
  })

  test('completes pending queries on close, and keeps no connection', async (t) => {
    const asked = Promise.withResolvers<() => void>()
    const gone = Promise.withResolvers<void>()
    const server = await fakeTcp(t, (query, socket) => {
      socket.once('close', () => gone.resolve())
      asked.resolve(() => socket.write(frame(echo(query))))
    })
    const { pool } = poolFor(t, server)
    const reply = pool.ask(QUERY, LONG)
    const answer = await asked.promise
    pool.close()
    answer()
    assert.deepEqual(await reply, RIGHT)
    await within(gone.promise, 'the end of the last connection')
  })
})
