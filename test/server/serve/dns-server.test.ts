import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:tls'
import { describe, test, vi } from 'vitest'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import type { Listener } from '../../../src/resolver/chain/listener.ts'
import type { Feature, TlsService } from '../../../src/resolver/contract/feature.ts'
import type { Plugin } from '../../../src/resolver/contract/plugin.ts'
import { DnsServer, lameduckMsOf } from '../../../src/server/serve/dns-server.ts'
import { AUTHORITY, type Certificate, CLIENT, SERVER } from '../../certificates.ts'
import { freePort } from '../../free-port.ts'
import {
  answersOf,
  ask,
  HERE,
  line,
  resolverOf,
  serveAnywhere,
  withServer,
} from '../answering-server.ts'
import { fakeTcp, frame, LOOPBACKS, queryWith, TcpClient, within } from '../clients.ts'

async function get(port: number, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`)
  return `${response.status} ${await response.text()}`
}

describe('DnsServer', () => {
  test('answers over UDP and TCP, and starts the plugins', async () => {
    await withServer(async (server) => {
      let starts = 0
      const start = (): void => {
        starts++
      }
      const resolver = resolverOf({ says: '192.0.2.1', plugin: { start } })
      const port = await serveAnywhere(server, resolver)
      assert.deepEqual(await ask(port), line('192.0.2.1'))
      const client = await TcpClient.open(port)
      client.socket.write(frame(queryWith(1)))
      assert.deepEqual(answersOf((await client.messages(1))[0]), line('192.0.2.1'))
      assert.equal(starts, 1)
    })
  })

  test('close stops the plugins and closes the sockets', async () => {
    const events: string[] = []
    const stop = (): void => {
      events.push('stop')
    }
    const server = new DnsServer(new Metrics())
    const port = await serveAnywhere(server, resolverOf({ says: '192.0.2.1', plugin: { stop } }))
    const client = await TcpClient.open(port)
    assert.deepEqual(events, [])
    await server.close()
    assert.deepEqual(events, ['stop'])
    await within(client.closed, 'the end')
    await assert.rejects(TcpClient.open(port), { code: 'ECONNREFUSED' })
  })

  test('drain answers the queries in flight and refuses new connections', async () => {
    const server = new DnsServer(new Metrics())
    const address = Promise.withResolvers<string>()
    const seen = Promise.withResolvers<void>()
    let count = 0
    const onQuery = (): void => {
      if (++count === 2) seen.resolve()
    }
    const port = await serveAnywhere(server, resolverOf({ says: address.promise, onQuery }))
    const client = await TcpClient.open(port)
    client.socket.write(frame(queryWith(1)))
    const overUdp = ask(port)
    await seen.promise
    let isDrained = false
    const drained = server.drain().then(() => {
      isDrained = true
    })
    await assert.rejects(TcpClient.open(port), { code: 'ECONNREFUSED' })
    assert.equal(isDrained, false)
    address.resolve('192.0.2.1')
    await drained
    await server.close()
    assert.deepEqual(await overUdp, line('192.0.2.1'))
    assert.deepEqual(answersOf((await client.messages(1))[0]), line('192.0.2.1'))
  })

  test('drain ends at once without queries, and after 5 s with one that never ends', async () => {
    await withServer(async (server) => {
      const seen = Promise.withResolvers<void>()
      const says = new Promise<string>(() => undefined)
      const port = await serveAnywhere(server, resolverOf({ says, onQuery: seen.resolve }))
      await server.drain()
      const socket = createSocket('udp4')
      socket.send(queryWith(1), port, '127.0.0.1')
      await seen.promise
      socket.close()
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      try {
        const drained = server.drain()
        await vi.advanceTimersByTimeAsync(4999)
        assert.equal(vi.getTimerCount(), 1)
        await vi.advanceTimersByTimeAsync(1)
        await drained
      } finally {
        vi.useRealTimers()
      }
    })
  })

  test('replaces the resolver without losing a socket or a query', async () => {
    await withServer(async (server) => {
      const events: string[] = []
      const plugin = (name: string): Partial<Plugin> => ({
        start: () => events.push(`start ${name}`),
        stop: () => void events.push(`stop ${name}`),
      })
      const late = Promise.withResolvers<string>()
      const queried = Promise.withResolvers<void>()
      const first = resolverOf({
        says: late.promise,
        onQuery: queried.resolve,
        plugin: plugin('first'),
      })
      const port = await serveAnywhere(server, first)
      const client = await TcpClient.open(port)
      client.socket.write(frame(queryWith(1)))
      await within(queried.promise, 'the query')
      const second = resolverOf({ says: '192.0.2.2', plugin: plugin('second') })
      const answer = vi.spyOn(second, 'answerOnSlowPath')
      await server.serve(second)
      assert.deepEqual(server.ports, [port])
      assert.deepEqual(await ask(port), line('192.0.2.2'))
      assert.equal(answer.mock.calls.length, 1)
      client.socket.write(frame(queryWith(2)))
      assert.deepEqual((await client.messages(1)).map(answersOf), [line('192.0.2.2')])
      late.resolve('192.0.2.1')
      assert.deepEqual((await client.messages(2)).map(answersOf)[1], line('192.0.2.1'))
      assert.deepEqual(events, ['start first', 'start second', 'stop first'])
    })
  })

  test('opens new listeners and closes removed ones', async () => {
    await withServer(async (server) => {
      const extra = await freePort()
      const both = [{ ...HERE, port: extra }, HERE]
      const port = await serveAnywhere(server, resolverOf({ says: '192.0.2.1' }))
      await server.serve(resolverOf({ says: '192.0.2.2', listeners: both }))
      assert.deepEqual(server.ports, [extra, port])
      assert.deepEqual([await ask(port), await ask(extra)], [line('192.0.2.2'), line('192.0.2.2')])
      const [only] = both
      await server.serve(resolverOf({ says: '192.0.2.3', listeners: only ? [only] : [] }))
      assert.deepEqual(server.ports, [extra])
      assert.deepEqual(await ask(extra), line('192.0.2.3'))
      await assert.rejects(TcpClient.open(port), { code: 'ECONNREFUSED' })
    })
  })

  test('answers each listener from its own block', async () => {
    await withServer(async (server) => {
      const own = LOOPBACKS.map((address, i) => ({ address, says: `192.0.2.${i}` }))
      const resolvers = own.map(({ address, says }) =>
        resolverOf({ says, listeners: [{ addresses: [address] }] }),
      )
      const listeners = resolvers.flatMap((resolver) => resolver.listeners)
      await serveAnywhere(server, resolverOf({ says: '192.0.2.99', listeners }))
      for (const [i, { address, says }] of own.entries()) {
        assert.deepEqual(await ask(server.ports[i] ?? 0, address), line(says))
      }
    })
  })

  test('serves one address from a block of its own, and the others from another', async () => {
    for (const isFirst of [true, false])
      await withServer(async (server) => {
        const port = await freePort()
        const listenersOf = (says: string, addresses: readonly string[]): readonly Listener[] =>
          resolverOf({ says, listeners: [{ port, addresses }] }).listeners
        const own = listenersOf('192.0.2.1', ['127.0.0.1'])
        const all = listenersOf('192.0.2.2', [])
        const askTcp = async (address: string): Promise<string[] | undefined> => {
          const client = await TcpClient.open(port, address)
          client.socket.write(frame(queryWith(1)))
          const [message] = await client.messages(1)
          client.destroy()
          return answersOf(message)
        }
        const both = [...own, ...all]
        for (const listeners of isFirst ? [own, both, all, both] : [all, both, own, both]) {
          await server.serve(resolverOf({ says: '192.0.2.99', listeners }))
          const mine = line(listeners === all ? '192.0.2.2' : '192.0.2.1')
          assert.deepEqual([await ask(port), await askTcp('127.0.0.1')], [mine, mine])
          if (listeners !== own) assert.deepEqual(await askTcp('127.0.0.2'), line('192.0.2.2'))
          else await assert.rejects(TcpClient.open(port, '127.0.0.2'), { code: 'ECONNREFUSED' })
        }
      })
  })

  test('keeps serving the previous resolver when a DNS port is in use', async (t) => {
    const taken = await fakeTcp(t, () => undefined)
    await withServer(async (server) => {
      const events: string[] = []
      const fresh = await freePort()
      const stop = (): void => {
        events.push('stop')
      }
      const start = (): void => {
        events.push('start')
      }
      const port = await serveAnywhere(server, resolverOf({ says: '192.0.2.1', plugin: { stop } }))
      const listeners = [HERE, { ...HERE, port: fresh }, { ...HERE, port: taken.port }]
      const failing = resolverOf({ says: '192.0.2.2', listeners, plugin: { start } })
      await assert.rejects(server.serve(failing), {
        name: 'ListenError',
        message: `Cannot listen on TCP 127.0.0.1:${taken.port}: address in use; stop the other process or choose another port`,
      })
      assert.deepEqual(await ask(port), line('192.0.2.1'))
      assert.deepEqual(server.ports, [port])
      assert.deepEqual(events, [])
      await assert.rejects(TcpClient.open(fresh), { code: 'ECONNREFUSED' })
    })
  })

  test('keeps serving the previous resolver when an HTTP port is in use', async (t) => {
    const taken = await fakeTcp(t, () => undefined)
    await withServer(async (server) => {
      const [health, fresh] = [await freePort(), await freePort()]
      const feature = (at: number): Feature => ({
        kind: 'health',
        address: `127.0.0.1:${at}`,
        lameduckMs: 0,
      })
      const first = resolverOf({ says: '192.0.2.1', features: [feature(health)] })
      const port = await serveAnywhere(server, first)
      const listeners = [HERE, { ...HERE, port: fresh }]
      const features = [feature(taken.port)]
      await assert.rejects(server.serve(resolverOf({ says: '192.0.2.2', listeners, features })), {
        name: 'ListenError',
        message: `Cannot listen on HTTP 127.0.0.1:${taken.port}: address in use; stop the other process or choose another port`,
      })
      assert.deepEqual(await ask(port), line('192.0.2.1'))
      assert.equal(await get(health, '/health'), '200 OK')
      await assert.rejects(TcpClient.open(fresh), { code: 'ECONNREFUSED' })
    })
  })
})

describe('DnsServer over TLS', () => {
  const service = (certificate: Certificate): TlsService => ({
    ...certificate,
    clientAuth: 'nocert',
  })
  const secure = (tls: TlsService): Partial<Listener> => ({ ...HERE, transport: 'tls', tls })

  /** Returns the name in a server's certificate. */
  async function shownBy(port: number): Promise<unknown> {
    const socket = connect({ port, host: '127.0.0.1', ca: AUTHORITY })
    await once(socket, 'secureConnect')
    const { CN } = socket.getPeerCertificate().subject
    socket.destroy()
    return CN
  }

  test('presents the certificate of the current resolver', async () => {
    await withServer(async (server) => {
      const first = resolverOf({ says: '192.0.2.1', listeners: [secure(service(SERVER))] })
      const port = await serveAnywhere(server, first)
      assert.equal(await shownBy(port), 'server.test')
      await server.serve(resolverOf({ says: '192.0.2.2', listeners: [secure(service(CLIENT))] }))
      assert.deepEqual(server.ports, [port])
      assert.equal(await shownBy(port), 'client.test')
    })
  })

  test('requests client certificates when the current resolver does', async () => {
    await withServer(async (server) => {
      const port = await freePort()
      const at = (tls: TlsService): Partial<Listener> => ({ ...secure(tls), port })
      await server.serve(resolverOf({ says: '192.0.2.1', listeners: [at(service(SERVER))] }))
      assert.equal(await shownBy(port), 'server.test')
      const asking = { ...service(SERVER), ca: AUTHORITY, clientAuth: 'require' } as const
      await server.serve(resolverOf({ says: '192.0.2.2', listeners: [at(asking)] }))
      const socket = connect({ port, host: '127.0.0.1', ca: AUTHORITY })
      socket.on('error', () => undefined)
      await within(once(socket, 'close'), 'the end of who shows no certificate')
    })
  })
})

describe('DnsServer and its features', () => {
  test('is ready when its plugins are, but not during a shutdown', async () => {
    await withServer(async (server) => {
      const at = await freePort()
      let isReady = false
      const features: Feature[] = [
        { kind: 'ready', address: `127.0.0.1:${at}`, monitor: 'until-ready' },
      ]
      const plugin = { name: 'kubernetes', isReady: () => isReady }
      await serveAnywhere(server, resolverOf({ says: '192.0.2.1', features, plugin }))
      assert.equal(await get(at, '/ready'), '503 kubernetes')
      isReady = true
      assert.equal(await get(at, '/ready'), '200 OK')
      server.announceStop()
      assert.equal(await get(at, '/ready'), '503 Shutting down')
    })
  })
})

test('the longest lameduck counts', () => {
  const address = '127.0.0.1:1'
  const health = (lameduckMs: number): Feature => ({ kind: 'health', address, lameduckMs })
  const ready: Feature = { kind: 'ready', address, monitor: 'until-ready' }
  assert.equal(lameduckMsOf([ready]), 0)
  assert.equal(lameduckMsOf([ready, health(5000), health(2500)]), 5000)
})
