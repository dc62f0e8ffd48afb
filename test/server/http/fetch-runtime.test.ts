import assert from 'node:assert/strict'
import { describe, test, vi } from 'vitest'
import { type FetchHandler, findRuntime } from '../../../src/server/http/fetch-runtime.ts'

const TLS = { cert: 'a certificate', key: 'a key' }
const AT = { hostname: '127.0.0.1', port: 0 }
const REQUEST = new Request('https://dns.test/')
const whoAsks: FetchHandler = (_, remote) => Response.json(remote())
const REMOTE = { address: '192.0.2.7', port: 4711 }

describe('findRuntime', () => {
  test('returns undefined on Node', () => {
    assert.equal(findRuntime(), undefined)
    assert.equal(findRuntime({ Bun: { serve: 'no function' }, Deno: null }), undefined)
  })

  for (const tls of [undefined, TLS]) {
    test(`listens on Bun ${tls === undefined ? 'without TLS' : 'over TLS, with HTTP/2'}`, async (t) => {
      vi.useFakeTimers()
      t.onTestFinished(() => void vi.useRealTimers())
      const stops: boolean[] = []
      const serving = {
        port: 8443,
        stop: (closesConnections: boolean) => void stops.push(closesConnections),
        requestIP: () => REMOTE,
      }
      type Options = {
        fetch: (request: Request, from: typeof serving) => Response
        error: () => Response
        http2: boolean
        tls?: typeof TLS
        hostname: string
      }
      let given: Options | undefined
      const serve = (options: Options): typeof serving => {
        given = options
        return serving
      }
      const listener = findRuntime({ Bun: { serve } })?.listen(
        { ...AT, ...(tls && { tls }) },
        whoAsks,
      )
      assert.equal(listener?.port, 8443)
      assert.deepEqual(
        [given?.hostname, given?.tls, given?.http2],
        ['127.0.0.1', tls, tls !== undefined],
      )
      assert.deepEqual(await given?.fetch(REQUEST, serving).json(), REMOTE)
      assert.equal(given?.error().status, 500)
      assert.equal(vi.getTimerCount(), tls === undefined ? 0 : 1, 'handshakes keep the loop awake')
      await listener?.stop(true)
      assert.deepEqual(stops, [true])
      assert.equal(vi.getTimerCount(), 0)
    })
  }

  test('listens on Deno', async () => {
    const ends: string[] = []
    type Options = { signal: AbortSignal; cert: string; onError: () => Response; onListen(): void }
    type Handler = (request: Request, info: object) => Response
    let given: { options: Options; handler: Handler } | undefined
    const serve = (options: Options, handler: Handler): object => {
      given = { options, handler }
      options.onListen()
      const finished = new Promise<void>((resolve) => {
        options.signal.addEventListener('abort', () => {
          ends.push('abort')
          resolve()
        })
      })
      return { addr: { port: 8443 }, shutdown: async () => void ends.push('shutdown'), finished }
    }
    const listener = findRuntime({ Deno: { serve } })?.listen({ ...AT, tls: TLS }, whoAsks)
    assert.equal(listener?.port, 8443)
    assert.equal(given?.options.cert, TLS.cert)
    const info = { remoteAddr: { hostname: REMOTE.address, port: REMOTE.port } }
    assert.deepEqual(await given?.handler(REQUEST, info).json(), REMOTE)
    assert.equal(given?.options.onError().status, 500)
    await listener?.stop(false)
    // Deno throws at `abort` after `shutdown`.
    await listener?.stop(true)
    await findRuntime({ Deno: { serve } })?.listen(AT, whoAsks).stop(true)
    assert.deepEqual(ends, ['shutdown', 'abort'])
  })
})
