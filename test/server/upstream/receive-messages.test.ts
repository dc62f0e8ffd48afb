import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import { describe, type TestContext, test } from 'vitest'
import { formatHex } from '../../../src/dns/bytes/bytes.ts'
import { receiveMessages } from '../../../src/server/upstream/receive-messages.ts'

/** Serves one connection at a time; resolves with the port. */
function listen(t: TestContext, serve: (socket: Socket) => void): Promise<number> {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    serve(socket)
  })
  t.onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const bound = server.address()
      resolve(typeof bound === 'object' && bound !== null ? bound.port : 0)
    })
  })
}

async function receive(port: number, timeoutMs = 2000, countMax = 9): Promise<string[]> {
  const found: string[] = []
  const query = Uint8Array.of(1, 2, 3)
  for await (const message of receiveMessages({ address: '127.0.0.1', port }, query, timeoutMs)) {
    found.push(formatHex(message))
    if (found.length === countMax) break
  }
  return found
}

describe('messages over TCP', () => {
  test('are all given, however they are cut', async (t) => {
    let asked = ''
    const port = await listen(t, (socket) => {
      socket.once('data', (chunk) => {
        asked = Buffer.from(chunk).toString('hex')
        socket.write(Uint8Array.of(0, 2, 7, 8, 0))
        setImmediate(() => socket.end(Uint8Array.of(1, 9, 0, 1, 5)))
      })
    })
    assert.deepEqual(await receive(port), ['0708', '09', '05'])
    assert.equal(asked, '0003010203')
  })

  test('stop with the caller, and the connection closes', async (t) => {
    const closed = Promise.withResolvers<void>()
    const port = await listen(t, (socket) => {
      socket.resume().on('close', () => closed.resolve())
      socket.write(Uint8Array.of(0, 1, 7, 0, 1, 8))
    })
    assert.deepEqual(await receive(port, 2000, 1), ['07'])
    await closed.promise
  })

  test('end with an error when one is empty', async (t) => {
    const port = await listen(t, (socket) => socket.write(Uint8Array.of(0, 0)))
    await assert.rejects(receive(port), { message: 'the server sent an empty message' })
  })

  test('end with an error after a timeout', async (t) => {
    const port = await listen(t, () => undefined)
    await assert.rejects(receive(port, 50), { message: 'no response over TCP in time' })
  })

  test('end with an error if the port is closed', async (t) => {
    const port = await listen(t, () => undefined)
    await assert.rejects(receive(port === 1 ? 2 : 1), /ECONNREFUSED/)
  })
})
