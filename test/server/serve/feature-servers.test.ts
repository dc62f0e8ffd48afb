import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import type { Feature } from '../../../src/resolver/contract/feature.ts'
import { FeatureServers, type FeatureSource } from '../../../src/server/serve/feature-servers.ts'
import { formatMetrics } from '../../../src/server/serve/process-metrics.ts'
import { ListenError } from '../../../src/server/sockets/sockets.ts'
import { freePort } from '../../free-port.ts'
import { fakeTcp, TcpClient, within } from '../clients.ts'

type Served = 'health' | 'ready' | 'metrics'

function feature(kind: Served, port: number): Feature {
  const address = `127.0.0.1:${port}`
  if (kind === 'health') return { kind, address, lameduckMs: 0 }
  return kind === 'ready' ? { kind, address, monitor: 'until-ready' } : { kind, address }
}

/** Runs a function with servers, then closes them. */
async function withServers(
  run: (servers: FeatureServers, port: number) => Promise<void>,
  source: Partial<FeatureSource> = {},
): Promise<void> {
  const { metrics = new Metrics() } = source
  const servers = new FeatureServers({
    metrics,
    format: () => formatMetrics(metrics),
    notReady: () => [],
    ...source,
  })
  try {
    await run(servers, await freePort())
  } finally {
    await servers.close()
  }
}

async function get(port: number, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { connection: 'close' },
  })
  return `${response.status} ${await response.text()}`
}

async function isOpen(port: number): Promise<boolean> {
  try {
    const client = await TcpClient.open(port)
    client.destroy()
    return true
  } catch {
    return false
  }
}

describe('FeatureServers', () => {
  const types: readonly (readonly [kind: Served, path: string, type: string])[] = [
    ['health', '/health', 'text/plain; charset=utf-8'],
    ['ready', '/ready', 'text/plain; charset=utf-8'],
    ['metrics', '/metrics', 'text/plain; version=0.0.4; charset=utf-8'],
  ]
  for (const [kind, path, type] of types) {
    test(`serves ${path} as ${type}`, async () => {
      await withServers(async (servers, port) => {
        await servers.apply([feature(kind, port)])
        const { headers } = await fetch(`http://127.0.0.1:${port}${path}`)
        assert.equal(headers.get('content-type'), type)
      })
    })
  }

  const routes: { name: string; kinds: readonly Served[]; path: string; is: RegExp }[] = [
    { name: 'health', kinds: ['health'], path: '/health', is: /^200 OK$/ },
    { name: 'health, no other path', kinds: ['health'], path: '/', is: /^404/ },
    { name: 'health, no path of other features', kinds: ['health'], path: '/metrics', is: /^404/ },
    { name: 'ready', kinds: ['ready'], path: '/ready', is: /^200 OK$/ },
    { name: 'metrics', kinds: ['metrics'], path: '/metrics', is: /^200 # HELP nodejs_/ },
    { name: 'one of two', kinds: ['health', 'ready'], path: '/health', is: /^200 OK$/ },
    { name: 'the other of two', kinds: ['health', 'ready'], path: '/ready', is: /^200 OK$/ },
    { name: 'a feature twice', kinds: ['ready', 'ready'], path: '/ready', is: /^200 OK$/ },
  ]
  for (const { name, kinds, path, is } of routes) {
    test(`serves ${name}`, async () => {
      await withServers(async (servers, port) => {
        await servers.apply(kinds.map((kind) => feature(kind, port)))
        assert.match(await get(port, path), is)
      })
    })
  }

  test('answers HEAD, which some probes send', async () => {
    await withServers(async (servers, port) => {
      await servers.apply([feature('health', port)])
      const response = await fetch(`http://127.0.0.1:${port}/health`, { method: 'HEAD' })
      assert.equal(response.status, 200)
    })
  })

  test('adds what clusters lack below the first line, whether ready or not', async () => {
    const waiting = ['kubernetes']
    const source = { notReady: () => waiting, problems: () => ['a: waits', 'b: lost'] }
    await withServers(async (servers, port) => {
      await servers.apply([feature('ready', port)])
      assert.equal(await get(port, '/ready'), '503 kubernetes\na: waits\nb: lost')
      waiting.pop()
      assert.equal(await get(port, '/ready'), '200 OK\na: waits\nb: lost')
    }, source)
  })

  test('lists plugins that are not ready', async () => {
    let waiting = ['kubernetes', 'forward']
    const run = async (servers: FeatureServers, port: number): Promise<void> => {
      await servers.apply([feature('ready', port)])
      assert.equal(await get(port, '/ready'), '503 kubernetes,forward')
      waiting = []
      assert.equal(await get(port, '/ready'), '200 OK')
    }
    await withServers(run, { notReady: () => waiting })
  })

  test('publishes the current metrics', async () => {
    const metrics = new Metrics()
    const info = { name: 'queries_total', help: 'Queries.', labels: [] }
    const run = async (servers: FeatureServers, port: number): Promise<void> => {
      await servers.apply([feature('metrics', port)])
      metrics.counter(info).value = 7
      assert.match(await get(port, '/metrics'), /^queries_total 7$/m)
      metrics.counter(info).value = 8
      assert.match(await get(port, '/metrics'), /^queries_total 8$/m)
    }
    await withServers(run, { metrics })
  })

  test('opens no server for features without an address', async () => {
    await withServers(async (servers) => {
      await servers.apply([
        { kind: 'bind', addresses: ['not an address'], except: [] },
        { kind: 'reload', intervalMs: 1, jitterMs: 1 },
      ])
    })
  })

  test('keeps servers and connections that are still needed', async () => {
    await withServers(async (servers, port) => {
      await servers.apply([feature('health', port)])
      const client = await TcpClient.open(port)
      await get(port, '/health')
      await servers.apply([feature('health', port)])
      assert.equal(await get(port, '/health'), '200 OK')
      assert.equal(client.isClosed, false)
      await servers.close()
      await within(client.closed, 'the end')
    })
  })

  test('replaces the routes of an address', async () => {
    await withServers(async (servers, port) => {
      await servers.apply([feature('health', port)])
      await servers.apply([feature('ready', port)])
      assert.equal(await get(port, '/ready'), '200 OK')
      assert.match(await get(port, '/health'), /^404/)
    })
  })

  test('closes servers that are no longer needed', async () => {
    await withServers(async (servers, port) => {
      const other = await freePort()
      await servers.apply([feature('health', port), feature('ready', other)])
      await servers.apply([feature('ready', other)])
      assert.deepEqual([await isOpen(port), await isOpen(other)], [false, true])
      await servers.close()
      assert.equal(await isOpen(other), false)
    })
  })

  test('changes nothing when a port is in use', async (t) => {
    const taken = await fakeTcp(t, () => undefined)
    await withServers(async (servers, port) => {
      const fresh = await freePort()
      await servers.apply([feature('health', port)])
      const changes = [feature('ready', fresh), feature('metrics', taken.port)]
      const error = await servers.apply(changes).catch((reason: unknown) => reason)
      assert.ok(error instanceof ListenError)
      assert.equal(
        error.message,
        `Cannot listen on HTTP 127.0.0.1:${taken.port}: address in use; stop the other process or choose another port`,
      )
      assert.ok(error.cause instanceof Error)
      assert.equal(await get(port, '/health'), '200 OK')
      assert.equal(await isOpen(fresh), false)
    })
  })

  test('reports an invalid address', async () => {
    await withServers(async (servers) => {
      const nonsense: Feature = { kind: 'ready', address: '8181', monitor: 'until-ready' }
      await assert.rejects(servers.apply([nonsense]), {
        name: 'ListenError',
        message: '"8181" is not HOST:PORT',
      })
    })
  })
})
