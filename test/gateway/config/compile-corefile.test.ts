import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatProblem } from '../../../src/corefile/problem.ts'
import {
  checkWorkerUpstream,
  compileGatewayCorefile,
  gatewayWarnings,
} from '../../../src/gateway/config/compile-corefile.ts'
import type { Upstream, UpstreamOptions } from '../../../src/resolver/contract/host.ts'
import { block, parseBlocks } from '../../ask.ts'
import { FakeHost } from '../../fake-host.ts'

describe('compileGatewayCorefile', () => {
  async function compile(
    ...directives: readonly string[]
  ): Promise<{ zones: number; notices: string[] }> {
    const blocks = parseBlocks(block(...directives))
    const host = new FakeHost()
    const { listeners } = await compileGatewayCorefile(blocks, host)
    const notices = gatewayWarnings(blocks, host)
    return { zones: listeners.length, notices: notices.map(formatProblem) }
  }

  test('takes what answers queries', async () => {
    assert.deepEqual(await compile('whoami', 'log'), { zones: 1, notices: [] })
  })

  test('ignores directives of servers, with a warning', async () => {
    const { notices } = await compile('whoami', 'health 192.0.2.1:bad', 'bind eth7')
    assert.deepEqual(notices, [
      'Corefile:3:3: "health" has no effect at a gateway: it serves /healthz itself',
      'Corefile:4:3: "bind" has no effect at a gateway: "--listen" is the address of "kubedoh ' +
        `gateway", and Cloudflare has a Worker's`,
    ])
  })

  test('warns of zones at other ports than the first', () => {
    const blocks = parseBlocks(
      'a.test:53 b.test {\nwhoami\n}\ntls://c.test {\nwhoami\n}\nd.test:5353 {\nwhoami\n}\n',
    )
    assert.deepEqual(gatewayWarnings(blocks, new FakeHost()).map(formatProblem), [
      'Corefile:4:1: "c.test." at tls://:853 gets no queries: a gateway answers the zones of ' +
        'dns://:53 only, where the Corefile begins',
      'Corefile:7:1: "d.test." at dns://:5353 gets no queries: a gateway answers the zones of ' +
        'dns://:53 only, where the Corefile begins',
    ])
  })

  test('reports what it refuses with all other problems, in order', async () => {
    const blocks = parseBlocks(block('erors', 'ready', 'cache 0', 'tsig'))
    await assert.rejects(
      compileGatewayCorefile(blocks, new FakeHost({ isolatesRequests: true })),
      (error) => {
        const places = String(error).match(/Corefile:\d:\d/g)
        assert.deepEqual(places, ['Corefile:2:3', 'Corefile:4:9', 'Corefile:5:3'])
        return true
      },
    )
  })
})

describe('checkWorkerUpstream', () => {
  const options: UpstreamOptions = {
    tls: {},
    expireMs: 0,
    ageMsMax: 0,
    idleMax: 0,
    dohMethod: 'POST',
    resolvers: [],
    onConnection: () => undefined,
  }
  const upstream: Upstream = {
    transport: 'https',
    address: 'a.test',
    port: 443,
    url: 'https://a.test/',
  }

  test('returns the URL to query', () => {
    assert.equal(checkWorkerUpstream(upstream, options), 'https://a.test/')
  })

  test('refuses one without a URL', () => {
    const { url: _, ...plain } = upstream
    assert.throws(() => checkWorkerUpstream(plain, options), { message: /over https:\/\/ only/ })
  })

  const cases: { name: string; changes: Partial<UpstreamOptions> }[] = [
    { name: 'cannot choose certificates', changes: { tls: { ca: 'pem' } } },
    { name: 'cannot choose addresses', changes: { sourceAddress: '192.0.2.1' } },
    { name: 'cannot choose addresses', changes: { resolvers: ['192.0.2.1'] } },
  ]
  for (const { name, changes } of cases) {
    test(`${name}: ${Object.keys(changes)}`, () => {
      const message = new RegExp(name)
      assert.throws(() => checkWorkerUpstream(upstream, { ...options, ...changes }), { message })
    })
  }
})
