import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { Upstream, UpstreamOptions } from '../../src/chain/host.ts'
import { checkWorkerUpstream, compileGatewayCorefile } from '../../src/gateway/compile-corefile.ts'
import { block, parseBlocks } from '../ask.ts'
import { FakeHost } from '../fake-host.ts'

describe('compileGatewayCorefile', () => {
  test('takes what answers queries', () => {
    const resolver = compileGatewayCorefile(parseBlocks(block('whoami', 'log')), new FakeHost())
    assert.equal(resolver.listeners.length, 1)
  })

  test('reports directives of servers with all other problems, in order', () => {
    const blocks = parseBlocks(block('erors', 'ready', 'cache 0', 'reload'))
    assert.throws(
      () => compileGatewayCorefile(blocks, new FakeHost()),
      (error) => {
        const places = String(error).match(/Corefile:\d:\d/g)
        assert.deepEqual(places, ['Corefile:2:3', 'Corefile:3:3', 'Corefile:4:9', 'Corefile:5:3'])
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
