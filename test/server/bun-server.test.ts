import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Bun, BunServer, findBun } from '../../src/server/bun-server.ts'
import type { App, Direct, Head } from '../../src/server/http-request.ts'

type Options = Parameters<Bun['serve']>[0]

/** Stands in for the runtime: keeps what it is told to serve, and asks that. */
class FakeBun implements Bun {
  options: Options | undefined
  stops: boolean[] = []
  ipReads = 0

  readonly serve: Bun['serve'] = (options) => {
    this.options = options
    return this.serving
  }

  readonly listen: Bun['listen'] = () => assert.fail('nothing is to be secured')

  readonly serving: ReturnType<Bun['serve']> = {
    port: 8443,
    stop: (closesConnections) => void this.stops.push(closesConnections),
    requestIP: () => {
      this.ipReads++
      return { address: '192.0.2.7', port: 4711 }
    },
  }

  async ask(path: string, init?: RequestInit): Promise<Response> {
    if (this.options === undefined) throw new TypeError('Nothing is served')
    return this.options.fetch(new Request(`http://dns.test${path}`, init), this.serving)
  }
}

const APP: App = {
  fetch: (request, env) => new Response(`app ${request.method} ${JSON.stringify(env)}`),
}

async function listening(direct: Direct): Promise<FakeBun> {
  const bun = new FakeBun()
  const server = new BunServer(bun, APP, direct)
  assert.equal(await server.listen('127.0.0.1', 0), 8443)
  return bun
}

const HEADERS = { 'cache-control': 'max-age=5' }

describe('BunServer', () => {
  it('answers common requests without the app, and asks for no address', async () => {
    const heads: Head[] = []
    const bun = await listening((head) => {
      heads.push(head)
      return () => ({ status: 200, headers: HEADERS, body: Uint8Array.of(1, 2) })
    })
    const response = await bun.ask('/dns-query?dns=AAA', { headers: { accept: 'x/y' } })
    assert.deepEqual([...new Uint8Array(await response.arrayBuffer())], [1, 2])
    assert.equal(response.headers.get('cache-control'), 'max-age=5')
    assert.equal(heads[0]?.method, 'GET')
    assert.equal(heads[0]?.path, '/dns-query?dns=AAA')
    assert.equal(heads[0]?.header('accept'), 'x/y')
    assert.equal(heads[0]?.header('content-type'), undefined)
    assert.equal(bun.ipReads, 0)
    assert.equal(heads[0]?.address, '192.0.2.7')
  })

  it('hands over the body of a POST', async () => {
    const bun = await listening(() => async (body) => ({
      status: 200,
      headers: HEADERS,
      body: body ?? new Uint8Array(0),
    }))
    const response = await bun.ask('/dns-query', { method: 'POST', body: Uint8Array.of(9) })
    assert.deepEqual([...new Uint8Array(await response.arrayBuffer())], [9])
  })

  it('leaves the rest to the app, with who sends it', async () => {
    const bun = await listening(() => undefined)
    const remote = { remoteAddress: '192.0.2.7', remotePort: 4711, localPort: 8443 }
    const text = await (await bun.ask('/resolve')).text()
    assert.equal(text, `app GET ${JSON.stringify({ incoming: { socket: remote } })}`)
  })

  it('refuses a request without a host, which Bun passes on with a path for its URL', async () => {
    const bun = await listening(() => undefined)
    const request = new Request('http://dns.test/')
    for (const url of ['/dns-query', 'http://[::/dns-query']) {
      const sent = new Proxy(request, {
        get: (target, name) => (name === 'url' ? url : Reflect.get(target, name, target)),
      })
      const response = await bun.options?.fetch(sent, bun.serving)
      assert.equal(response?.status, 400)
      assert.match(await response.text(), /"code":"bad_host"/)
    }
  })

  it('ends a request whose body does not come in time', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const bun = await listening(() => () => ({
      status: 200,
      headers: HEADERS,
      body: new Uint8Array(0),
    }))
    const body = new ReadableStream({ start: (controller) => controller.enqueue(Uint8Array.of(1)) })
    const answered = bun.ask('/dns-query', { method: 'POST', body, duplex: 'half' } as RequestInit)
    t.mock.timers.tick(15_000)
    const { status, headers } = await answered
    assert.deepEqual([status, headers.get('connection')], [408, 'close'])
  })

  it('ends the connections there are', async () => {
    const bun = new FakeBun()
    const server = new BunServer(bun, APP, () => undefined)
    await server.close()
    await server.listen(undefined, 0)
    await server.close()
    assert.deepEqual(bun.stops, [true])
  })
})

describe('findBun', () => {
  it('finds none on Node', () => {
    assert.equal(findBun(), undefined)
  })
})
