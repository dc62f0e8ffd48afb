import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, test } from 'vitest'
import type { LogEvent } from '../../../src/dns/telemetry/log.ts'
import { waitForServer } from '../../../src/operators/node-local/upstream-service.ts'
import { freePort } from '../../free-port.ts'

describe('waitForServer', () => {
  test('resolves when a server begins to listen', async (t) => {
    const port = await freePort()
    const lines: LogEvent[] = []
    const waiting = waitForServer('127.0.0.1', (line) => lines.push(line), { port })
    const server = createServer((socket) => socket.destroy())
    t.onTestFinished(() => void server.close())
    server.listen(port, '127.0.0.1')
    await Promise.all([once(server, 'listening'), waiting])
    assert.deepEqual(lines, [])
  })

  test('warns when none does in time', async () => {
    const port = await freePort()
    const lines: LogEvent[] = []
    const options = { port, boundMs: 1 }
    await waitForServer('127.0.0.1', (line) => lines.push(line), options)
    const message = `127.0.0.1 accepts no connections on port ${port}`
    assert.deepEqual(lines, [{ level: 'warning', message }])
  })
})
