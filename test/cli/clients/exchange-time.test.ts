import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, test } from 'vitest'
import { timeExchange } from '../../../src/cli/clients/exchange-time.ts'
import { exchange } from '../../../src/server/upstream/exchange.ts'
import { startHttpApi } from '../../cluster/follow/http-api.ts'
import { echo, fakeUdp, queryWith } from '../../server/clients.ts'

/** Loading code and connecting take this long by the clock of these tests, an answer 7 ms. */
const START_MS = 500

describe('timeExchange', () => {
  test('measures UDP from the query, not from the start', async (t) => {
    let nowMs = 0
    const { port } = await fakeUdp(t, (query) => {
      nowMs += 7
      return [echo(query)]
    })
    const { tookMs } = await timeExchange(
      () => {
        nowMs += START_MS
        const options = { protocol: 'udp', timeoutMs: 5000 } as const
        return exchange({ transport: 'dns', address: '127.0.0.1', port }, queryWith(1), options)
      },
      () => nowMs,
    )
    assert.equal(tookMs, 7)
  })

  test('measures TCP and TLS from the established connection', async (t) => {
    let nowMs = 0
    const server = createServer((socket) => {
      socket.on('data', (chunk: Buffer) => {
        nowMs += 7
        socket.end(Buffer.concat([chunk.subarray(0, 4), Buffer.from([0x80]), chunk.subarray(5)]))
      })
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    t.onTestFinished(() => void server.close())
    const bound = server.address()
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0
    const { result, tookMs } = await timeExchange(
      () => {
        nowMs += START_MS
        const options = { protocol: 'tcp', timeoutMs: 5000 } as const
        return exchange({ transport: 'dns', address: '127.0.0.1', port }, queryWith(1), options)
      },
      () => nowMs,
    )
    assert.deepEqual([result[2], tookMs], [0x80, 7])
  })

  test('measures fetch from the sent request', async (t) => {
    let nowMs = 0
    const url = await startHttpApi(t, (_, response) => {
      nowMs += 7
      response.end()
    })
    const { result, tookMs } = await timeExchange(
      () => {
        nowMs += START_MS
        return fetch(url)
      },
      () => nowMs,
    )
    await result.text()
    assert.equal(tookMs, 7)
  })
})
