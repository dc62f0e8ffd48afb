/**
 * Measures what a connection brings to the event loop.
 * @module
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'vitest'

const SENT_BYTES = 2_000_000

/**
 * Returns the most bytes that a connection brings to one iteration of the event loop.
 * @param prepare changes the listener before a client connects
 */
export async function bytesPerTurn(
  t: TestContext,
  prepare: (listener: Server) => void,
): Promise<number> {
  const server = createServer()
  t.onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  prepare(server)
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [socket]: Socket[] = await once(server, 'connection')
  assert.ok(socket)
  client.write(Buffer.alloc(SENT_BYTES))
  let [inTurn, most] = [0, 0]
  await new Promise<void>((resolve) => {
    socket.on('data', ({ length }) => {
      if (inTurn === 0) setImmediate(() => (inTurn = 0))
      inTurn += length
      most = Math.max(most, inTurn)
      if (socket.bytesRead === SENT_BYTES) resolve()
    })
  })
  client.destroy()
  return most
}
