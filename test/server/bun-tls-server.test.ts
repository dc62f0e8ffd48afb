import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:https'
import { describe, it, type TestContext } from 'node:test'
import { connect, createServer, type TLSSocket } from 'node:tls'
import { Hono } from 'hono'
import type { RawSocket } from '../../src/server/bun-socket.ts'
import { type BunListen, BunTlsServer } from '../../src/server/bun-tls-server.ts'
import type { Direct } from '../../src/server/http-request.ts'
import { AUTHORITY, SERVER } from '../certificates.ts'
import { within } from './clients.ts'
import { openSession, send } from './http2-clients.ts'

type Options = Parameters<BunListen['listen']>[0]
type Served = Parameters<Options['socket']['open']>[0]

/** Bytes that a socket takes at a time: fewer than many an answer has. */
const ROOM_BYTES = 1000

/** Stands in for the runtime: listens by Node's module, and hands sockets on as Bun does. */
class FakeBun implements BunListen {
  /** Hosts at which nothing can listen here. */
  readonly refused: ReadonlySet<string>
  readonly hosts: string[] = []
  private readonly port: number

  private constructor(port: number, refused: readonly string[]) {
    this.port = port
    this.refused = new Set(refused)
  }

  /** @param port that listens already */
  static of(port: number, refused: readonly string[] = []): FakeBun {
    return new FakeBun(port, refused)
  }

  readonly sockets = new Set<TLSSocket>()
  options: Options | undefined

  readonly listen: BunListen['listen'] = (options) => {
    this.hosts.push(options.hostname)
    if (this.refused.has(options.hostname)) throw new Error('no such address')
    this.options = options
    const stop = (isHard: boolean): void => {
      for (const socket of isHard ? this.sockets : []) socket.destroy()
    }
    return { port: this.port, stop }
  }

  /** A client has come and shaken hands. */
  accept(socket: TLSSocket): void {
    const handlers = this.options?.socket
    assert.ok(handlers !== undefined)
    this.sockets.add(socket)
    const served = servedBy(socket)
    handlers.open(served)
    handlers.handshake(served, true)
    socket.on('data', (chunk: Buffer) => handlers.data(served, chunk))
    socket.on('drained', () => handlers.drain(served))
    socket.on('end', () => handlers.end(served))
    socket.on('error', () => handlers.error(served))
    socket.on('close', () => handlers.close(served))
  }
}

/** A socket as Bun's are: it takes a part of what is written, and the rest when it says so. */
function servedBy(socket: TLSSocket): Served {
  const { remoteAddress = '', remotePort = 0, localAddress = '', localPort = 0 } = socket
  const raw: RawSocket = {
    alpnProtocol: socket.alpnProtocol,
    ...{ remoteAddress, remotePort, localAddress, localPort },
    write: (octets) => {
      if (socket.destroyed) return -1
      const taken = octets.subarray(0, ROOM_BYTES)
      socket.write(Buffer.from(taken), () => {
        if (taken.length < octets.length) socket.emit('drained')
      })
      return taken.length
    },
    end: () => socket.end(),
    terminate: () => socket.destroy(),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
  }
  return { ...raw, data: undefined }
}

const APP = new Hono()
  .get('/large', (c) => c.text('a'.repeat(100_000)))
  .all('*', async (c) => c.text(`app ${new URL(c.req.url).protocol} ${await c.req.text()}`))

const direct: Direct = (head) => {
  if (!head.path.startsWith('/direct')) return undefined
  const text = `${head.address} ${head.ends().port > 0}`
  return (body) => ({ status: 200, headers: {}, body: body ?? Buffer.from(text) })
}

async function serving(t: TestContext): Promise<{ port: number; server: BunTlsServer }> {
  let bun: FakeBun | undefined
  const listener = createServer({ ...SERVER, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) =>
    bun?.accept(socket),
  )
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.after(() => listener.close())
  const bound = listener.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0
  bun = FakeBun.of(port)
  const tls = { ...SERVER, clientAuth: 'nocert' as const }
  const server = new BunTlsServer(bun, APP, { tls, direct })
  t.after(() => server.close())
  assert.equal(await server.listen('127.0.0.1', 0), port)
  return { port, server }
}

function get(port: number, path: string, body?: string): Promise<string> {
  const answer = new Promise<string>((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    const sent = request({ port, path, method, ca: AUTHORITY, host: '127.0.0.1' }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.on('end', () => resolve(text))
    })
    sent.on('error', reject)
    sent.end(body)
  })
  return within(answer, 'the answer')
}

describe('BunTlsServer', () => {
  it('speaks HTTP/2, and answers common requests without the app', async (t) => {
    const { port } = await serving(t)
    const session = await openSession(t, port)
    assert.equal((await send(session, { ':path': '/direct' })).body.toString(), '127.0.0.1 true')
    const body = Buffer.alloc(60_000, 7)
    const posted = await send(session, { ':path': '/direct', ':method': 'POST' }, body)
    assert.ok(posted.body.equals(body))
    assert.equal((await send(session, { ':path': '/large' })).body.length, 100_000)
    assert.equal((await send(session, { ':path': '/' })).body.toString(), 'app https: ')
  })

  it('speaks HTTP/1.1 with who wants that', async (t) => {
    const { port } = await serving(t)
    assert.equal(await get(port, '/direct'), '127.0.0.1 true')
    assert.equal(await get(port, '/direct', 'body'), 'body')
    assert.equal(await get(port, '/', 'b'.repeat(50_000)), `app https: ${'b'.repeat(50_000)}`)
    assert.equal((await get(port, '/large')).length, 100_000)
  })

  it('ends the connections there are', async (t) => {
    const { port, server } = await serving(t)
    const options = { port, host: '127.0.0.1', ca: AUTHORITY }
    const sockets = ['h2', 'http/1.1'].map((one) => connect({ ...options, ALPNProtocols: [one] }))
    for (const socket of sockets) socket.on('error', () => undefined).resume()
    await Promise.all(sockets.map((socket) => once(socket, 'secureConnect')))
    await get(port, '/direct')
    const closed = sockets.map((socket) => once(socket, 'close'))
    await server.close()
    await within(Promise.all(closed), 'the end')
  })

  it('ends what fails to shake hands, and one of too many', async () => {
    const tls = { ...SERVER, clientAuth: 'nocert' as const }
    const bun = FakeBun.of(8443)
    await new BunTlsServer(bun, APP, { tls, direct }).listen('127.0.0.1', 8443)
    const handlers = bun.options?.socket
    assert.ok(handlers !== undefined)
    let lastPort = 0
    const open = (): { readonly served: Served; readonly ends: string[] } => {
      const ends: string[] = []
      const [pause, resume, end] = [() => undefined, () => undefined, () => undefined]
      const terminate = (): void => void ends.push('terminate')
      const remotePort = ++lastPort
      const from = { remoteAddress: '192.0.2.1', remotePort, localAddress: '', localPort: 0 }
      const how = { alpnProtocol: false, write: () => 0, pause, resume, end, terminate } as const
      const served = { ...from, ...how, data: undefined }
      handlers.open(served)
      return { served, ends }
    }
    const failed = open()
    handlers.data(failed.served, Buffer.from('GET'))
    handlers.handshake(failed.served, false)
    assert.deepEqual(failed.ends, ['terminate'])
    handlers.close(failed.served)
    const all = Array.from({ length: 501 }, open)
    assert.deepEqual(
      all.flatMap(({ ends }) => ends),
      ['terminate'],
    )
    for (const { served } of all) handlers.close(served)
    assert.deepEqual(open().ends, [])
  })

  it('listens at all addresses, or at those there are', async () => {
    const tls = { ...SERVER, clientAuth: 'nocert' as const }
    for (const [refused, hosts] of [
      [[], ['::']],
      [['::'], ['::', '0.0.0.0']],
    ] as const) {
      const bun = FakeBun.of(8443, refused)
      assert.equal(await new BunTlsServer(bun, APP, { tls, direct }).listen(undefined, 8443), 8443)
      assert.deepEqual(bun.hosts, hosts)
    }
  })

  it('refuses a key that is none', () => {
    const tls = { ...SERVER, key: 'none', clientAuth: 'nocert' as const }
    assert.throws(() => new BunTlsServer(FakeBun.of(0), APP, { tls, direct }))
  })
})
