import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { loadCorefile } from '../../../src/server/node/load-corefile.ts'
import { Server } from '../../../src/server/serve/server.ts'
import { SharedClusters } from '../../../src/server/serve/shared-snapshots.ts'
import { Screen } from '../../cli/run-cli.ts'
import { serveOptions, shopFolder } from '../../cli/shop.ts'
import { freePort } from '../../free-port.ts'

describe('the server of a worker', () => {
  test('shares its port, and leaves features and warnings to the main thread', async (t) => {
    const dnsPort = await freePort()
    const lines = ['bind 127.0.0.1', 'kubernetes cluster.local {\n resyncperiod 5m\n }', 'loop']
    const Corefile = `. {\n  ${lines.join('\n  ')}\n  health 203.0.113.1:1\n}\n`
    const folder = shopFolder(t, { Corefile })
    const corefile = loadCorefile(join(folder, 'Corefile'))
    const screen = new Screen()
    const parts = { clusters: new SharedClusters(), abort: assert.fail }
    const servers = [1, 2].map(() => new Server(serveOptions(folder, { dnsPort }), screen, parts))
    t.onTestFinished(async () => {
      await Promise.all(servers.map((server) => server.close()))
    })
    for (const server of servers) await server.start(corefile)
    assert.deepEqual(
      servers.map(({ ports }) => ports),
      [[dnsPort], [dnsPort]],
    )
    assert.equal(screen.text.stderr, '')
    assert.match((await servers[0]?.formatMetrics()) ?? '', /^# HELP coredns_/)
    assert.deepEqual(servers[0]?.notReady(), [])
  })

  test('keeps the previous Corefile when it cannot apply a new one', async (t) => {
    const folder = shopFolder(t, { Corefile: '. {\n  bind 127.0.0.1\n  whoami\n}\n' })
    const parts = { clusters: new SharedClusters(), abort: assert.fail }
    const options = serveOptions(folder, { dnsPort: await freePort() })
    const server = new Server(options, new Screen(), parts)
    t.onTestFinished(() => server.close())
    const corefile = loadCorefile(options.conf)
    await server.start(corefile)
    const wrong = join(
      shopFolder(t, { Corefile: '. {\n  bind nosuch0\n  whoami\n}\n' }),
      'Corefile',
    )
    await assert.rejects(server.apply(loadCorefile(wrong)), /"nosuch0" is neither an address/)
    assert.deepEqual(server.ports, [options.dnsPort])
    await server.apply(corefile)
  })

  test('keeps its clusters when it applies a Corefile whose plugins read objects', async (t) => {
    const lines = ['bind 127.0.0.1', 'kubernetes cluster.local', 'metadata']
    const folder = shopFolder(t, { Corefile: `. {\n  ${lines.join('\n  ')}\n}\n` })
    const clusters = new SharedClusters()
    const sources = new Set<unknown>()
    const open: SharedClusters['open'] = (...wanted) => {
      const source = SharedClusters.prototype.open.apply(clusters, wanted)
      sources.add(source)
      return source
    }
    const parts = { clusters: Object.assign(clusters, { open }), abort: assert.fail }
    const options = serveOptions(folder, { dnsPort: await freePort() })
    const server = new Server(options, new Screen(), parts)
    t.onTestFinished(() => server.close())
    const corefile = loadCorefile(options.conf)
    await server.start(corefile)
    for (let i = 0; i < 2; i++) await server.apply(corefile)
    // Another one would get no more snapshots.
    assert.equal(sources.size, 1)
  })
})
