import assert from 'node:assert/strict'
import { beforeEach, describe, it, vi } from 'vitest'
import type {
  FetchHandler,
  FetchListen,
  FetchRuntime,
} from '../../../src/server/http/fetch-runtime.ts'
import { FetchServer } from '../../../src/server/http/fetch-server.ts'
import type { App, Direct, Head, Ready } from '../../../src/server/http/http-request.ts'
import { RequestMemory } from '../../../src/server/http/request-memory.ts'
import { SERVER, STRANGER } from '../../certificates.ts'

/** A fake runtime: records its handlers and calls them. */
class FakeRuntime implements FetchRuntime {
  readonly listens: FetchListen[] = []
  readonly stops: boolean[] = []
  handler: FetchHandler | undefined
  remoteReads = 0
  address = '192.0.2.7'

  readonly listen: FetchRuntime['listen'] = (at, handler) => {
    this.listens.push(at)
    this.handler = handler
    return { port: 8443, stop: (closesConnections) => void this.stops.push(closesConnections) }
  }

  readonly remote: Parameters<FetchHandler>[1] = () => {
    this.remoteReads++
    return { address: this.address, port: 4711 }
  }

  async ask(path: string, init?: RequestInit): Promise<Response> {
    return this.askAs(new Request(`http://dns.test${path}`, init))
  }

  async askAs(request: Request): Promise<Response> {
    if (this.handler === undefined) throw new TypeError('Nothing is served')
    return this.handler(request, this.remote)
  }
}

const APP: App = {
  fetch: (request, env) => new Response(`app ${request.method} ${JSON.stringify(env)}`),
}

async function listening(direct: Direct, requestMemory?: RequestMemory): Promise<FakeRuntime> {
  const runtime = new FakeRuntime()
  const options = { app: APP, direct, tls: undefined, ...(requestMemory && { requestMemory }) }
  const server = new FetchServer(runtime, options)
  assert.equal(await server.listen('127.0.0.1', 0), 8443)
  return runtime
}

const HEADERS = { 'cache-control': 'max-age=5' }

/** Takes longer than one client may in an iteration of the event loop. */
function takeLong(): void {
  const endMs = performance.now() + 5
  while (performance.now() < endMs);
}

describe('FetchServer', () => {
  // A slow test before would make the next one wait for its turn.
  beforeEach(() => new Promise((resolve) => setImmediate(resolve)))

  it('answers clients in turns when one sends many requests at once', async () => {
    const order: string[] = []
    const runtime = await listening(({ path }) => () => {
      order.push(path)
      takeLong()
      return { status: 200, headers: HEADERS, body: Uint8Array.of() }
    })
    const many = ['/1', '/2', '/3'].map((path) => runtime.askAs(new Request(`http://a${path}`)))
    runtime.address = '198.51.100.1'
    const other = runtime.askAs(new Request('http://a/other'))
    assert.deepEqual(order, ['/1'])
    await Promise.all([...many, other])
    assert.deepEqual(order, ['/1', '/2', '/other', '/3'])
  })

  it("answers common requests without the app or the client's address", async () => {
    const heads: Head[] = []
    const runtime = await listening((head) => {
      heads.push(head)
      return () => ({ status: 200, headers: HEADERS, body: Uint8Array.of(1, 2) })
    })
    const response = await runtime.ask('/dns-query?dns=AAA', { headers: { accept: 'x/y' } })
    assert.deepEqual([...new Uint8Array(await response.arrayBuffer())], [1, 2])
    assert.equal(response.headers.get('cache-control'), 'max-age=5')
    assert.equal(heads[0]?.method, 'GET')
    assert.equal(heads[0]?.path, '/dns-query?dns=AAA')
    assert.equal(heads[0]?.header('accept'), 'x/y')
    assert.equal(heads[0]?.header('content-type'), undefined)
    assert.equal(runtime.remoteReads, 0)
    assert.equal(heads[0]?.address, '192.0.2.7')
  })

  it('passes on the body of a POST', async () => {
    const runtime = await listening(() => async (body) => ({
      status: 200,
      headers: HEADERS,
      body: body ?? new Uint8Array(0),
    }))
    const response = await runtime.ask('/dns-query', { method: 'POST', body: Uint8Array.of(9) })
    assert.deepEqual([...new Uint8Array(await response.arrayBuffer())], [9])
  })

  it('leaves other requests to the app, with the ends that the fast path gets', async () => {
    const heads: Head[] = []
    const runtime = await listening((head) => void heads.push(head))
    const text = await (await runtime.ask('/resolve')).text()
    const [head = assert.fail()] = heads
    const { address: remoteAddress, port: remotePort, localAddress, localPort } = head.ends()
    assert.deepEqual([remoteAddress, remotePort, localPort], ['192.0.2.7', 4711, 8443])
    const socket = { remoteAddress, remotePort, localAddress, localPort }
    assert.equal(text, `app GET ${JSON.stringify({ incoming: { socket } })}`)
  })

  it('refuses a request without a host, whose URL on Bun is only a path', async () => {
    const runtime = await listening(() => undefined)
    const request = new Request('http://dns.test/')
    for (const url of ['/dns-query', 'http://[::/dns-query']) {
      const sent = new Proxy(request, {
        get: (target, name) => (name === 'url' ? url : Reflect.get(target, name, target)),
      })
      const response = await runtime.askAs(sent)
      assert.equal(response.status, 400)
      assert.match(await response.text(), /"code":"bad_host"/)
    }
  })

  it('answers 408 when a body does not arrive in time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const runtime = await listening(() => () => ({
      status: 200,
      headers: HEADERS,
      body: new Uint8Array(0),
    }))
    const body = new ReadableStream({ start: (controller) => controller.enqueue(Uint8Array.of(1)) })
    const answered = runtime.ask('/dns-query', {
      method: 'POST',
      body,
      duplex: 'half',
    } as RequestInit)
    vi.advanceTimersByTime(15_000)
    const { status, headers } = await answered
    assert.deepEqual([status, headers.get('connection')], [408, 'close'])
  })

  it('refuses bodies that wait when they take too much memory, the largest first', async () => {
    const requestMemory = new RequestMemory(1000)
    const answer = (): Ready => ({ status: 200, headers: HEADERS, body: new Uint8Array(0) })
    const runtime = await listening(() => answer, requestMemory)
    const asked = [400, 500, 300].map((length) => {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
      const headers = { 'content-length': `${length}` }
      const request = { method: 'POST', body: readable, duplex: 'half', headers } as RequestInit
      return { response: runtime.ask('/dns-query', request), end: () => writable.close() }
    })
    const refused = await asked[1]?.response
    assert.equal(refused?.status, 503)
    assert.equal(refused?.headers.get('connection'), 'close')
    assert.match((await refused?.text()) ?? '', /"code":"busy"/)
    for (const { end } of asked) void end()
    const others = await Promise.all([asked[0]?.response, asked[2]?.response])
    assert.deepEqual(
      others.map((one) => one?.status),
      [200, 200],
    )
  })

  it('close ends open connections', async () => {
    const runtime = new FakeRuntime()
    const server = new FetchServer(runtime, { app: APP, direct: () => undefined, tls: undefined })
    await server.close()
    await server.listen(undefined, 0)
    assert.deepEqual(runtime.listens, [{ port: 0 }])
    await server.close()
    assert.deepEqual(runtime.stops, [true])
  })

  it('reopens its port for another certificate, and keeps connections', async () => {
    const runtime = new FakeRuntime()
    const tls = { ...SERVER, clientAuth: 'nocert' } as const
    const server = new FetchServer(runtime, { app: APP, direct: () => undefined, tls })
    const next = { ...STRANGER, clientAuth: 'nocert' } as const
    server.renew(tls)
    await server.listen('127.0.0.1', 0)
    server.renew(next)
    assert.deepEqual(runtime.stops, [false])
    const certificates = runtime.listens.map((one) => [one.port, one.tls?.cert])
    assert.deepEqual(certificates, [
      [0, SERVER.cert],
      [8443, STRANGER.cert],
    ])
    assert.throws(() => server.renew({ ...tls, key: 'none' }))
    assert.equal(runtime.listens.length, 2)
  })

  it('refuses an invalid key', () => {
    const tls = { ...SERVER, key: 'none', clientAuth: 'nocert' } as const
    const options = { app: APP, direct: () => undefined, tls }
    assert.throws(() => new FetchServer(new FakeRuntime(), options))
  })
})
