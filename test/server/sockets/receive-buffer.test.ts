import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { Agent, request } from 'node:https'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type TestContext, test } from 'vitest'
import { recordOf } from '../../../src/dns/bytes/unknown.ts'
import { loadCFunctions } from '../../../src/server/node/c-functions.ts'
import { narrowReceiveBuffers } from '../../../src/server/sockets/receive-buffer.ts'
import { AUTHORITY } from '../../certificates.ts'
import { describeUnless } from '../../describe-unless.ts'
import { bytesPerTurn } from '../bytes-per-turn.ts'
import { openSession, secureServer, send } from '../http2-clients.ts'

const found = loadCFunctions({
  getsockopt: { return: 'i32', arguments: ['i32', 'i32', 'i32', 'pointer', 'pointer'] },
})
const SOL_SOCKET = 1
const SO_RCVBUF = 8
const UPLOAD = Buffer.alloc(100_000, 1)

/** Returns the bytes of a socket's receive buffer. */
function receiveBufferBytes(socket: Socket): number {
  assert.ok(found)
  const { fd } = recordOf(Reflect.get(socket, '_handle'))
  const [value, size] = [new Int32Array(1), Int32Array.of(4)]
  const [to, length] = [found.addressOf(value), found.addressOf(size)]
  assert.equal(found.functions.getsockopt(Number(fd), SOL_SOCKET, SO_RCVBUF, to, length), 0)
  return value[0] ?? 0
}

/** Returns the sockets that servers of this process accept during a test. */
function acceptedSockets(t: TestContext): Socket[] {
  const sockets: Socket[] = []
  const add = (message: unknown): void => {
    const { socket } = recordOf(message)
    if (socket instanceof Socket) sockets.push(socket)
  }
  subscribe('net.server.socket', add)
  t.onTestFinished(() => {
    unsubscribe('net.server.socket', add)
  })
  return sockets
}

/** Uploads over a connection that stays open. Returns the status of the response. */
async function upload(t: TestContext, port: number, version: string): Promise<unknown> {
  const fields = { 'content-length': UPLOAD.length }
  if (version === 'HTTP/2') {
    const session = await openSession(t, port)
    const { status } = await send(session, { ':method': 'PUT', ':path': '/', ...fields }, UPLOAD)
    return status
  }
  const agent = new Agent({ keepAlive: true, ca: AUTHORITY })
  t.onTestFinished(() => agent.destroy())
  const sent = request({ host: '127.0.0.1', port, agent, method: 'PUT', headers: fields })
  sent.end(UPLOAD)
  const [response] = await once(sent, 'response')
  await once(response.resume(), 'end')
  return response.statusCode
}

const missing = found === undefined && 'this Node has no node:ffi, or this system is not Linux'

describeUnless(missing, 'narrow receive buffers', () => {
  test('let a connection bring at most 16 KiB to one iteration of the event loop', async (t) => {
    const most = await bytesPerTurn(t, narrowReceiveBuffers)
    assert.ok(most <= 16_384, `${most} bytes in one iteration`)
  })

  for (const version of ['HTTP/1.1', 'HTTP/2']) {
    for (const [status, isWide] of [
      [200, true],
      [403, false],
    ] as const) {
      const become = isWide ? 'become wide' : 'stay narrow'
      test(`${become} after an upload over ${version} with status ${status}`, async (t) => {
        const sockets = acceptedSockets(t)
        const fetch = async (asked: Request): Promise<Response> => {
          await asked.arrayBuffer()
          return new Response(null, { status })
        }
        const port = await secureServer(t, { fetch })
        assert.equal(await upload(t, port, version), status)
        const areWide = (): boolean[] => sockets.map((one) => receiveBufferBytes(one) > 32_768)
        // The response may be here before the server's next step.
        for (let i = 0; isWide && i < 100 && areWide().includes(false); i++) await sleep(10)
        assert.deepEqual(areWide(), [isWide])
      })
    }
  }
})
