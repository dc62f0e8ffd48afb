import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, serve } from '../../../ask.ts'
import { denial, OUTSIDE, serveExternal } from './objects.ts'

describe('k8s_external', () => {
  const cases: { name: string; options?: string[]; ask: string; reply: string[] }[] = [
    {
      name: 'has no data at the name of a namespace',
      ask: 'shop.ext.test A',
      reply: ['NOERROR aa rd', denial()],
    },
    {
      name: 'denies a missing namespace',
      ask: 'none.ext.test A',
      reply: ['NXDOMAIN aa rd', denial()],
    },
    {
      name: 'denies a Service with nothing outside',
      ask: 'inside.shop.ext.test A',
      reply: ['NXDOMAIN aa rd', denial()],
    },
    {
      name: 'answers for any label before a Service',
      ask: 'x.web.shop.ext.test A',
      reply: ['NOERROR aa rd', 'x.web.shop.ext.test. 5 IN A 203.0.113.1'],
    },
    {
      name: 'answers for endpoints when they are wanted',
      options: ['headless'],
      ask: 'db-0.db.shop.ext.test A',
      reply: ['NOERROR aa rd', 'db-0.db.shop.ext.test. 5 IN A 198.51.100.1'],
    },
    {
      name: 'maps addresses back to Services below its first zone',
      options: ['ttl 10'],
      ask: '1.113.0.203.in-addr.arpa PTR',
      reply: ['NOERROR aa rd', '1.113.0.203.in-addr.arpa. 10 IN PTR web.shop.ext.test.'],
    },
    {
      name: 'denies an address that nothing has outside',
      ask: '10.2.0.192.in-addr.arpa PTR',
      reply: ['NXDOMAIN aa rd', denial('in-addr.arpa')],
    },
    {
      name: 'denies everything else about an address',
      ask: '1.113.0.203.in-addr.arpa A',
      reply: ['NXDOMAIN aa rd', denial('in-addr.arpa')],
    },
    {
      name: 'denies a part of an address',
      ask: '113.0.203.in-addr.arpa PTR',
      reply: ['NXDOMAIN aa rd', denial('in-addr.arpa')],
    },
    {
      name: 'leaves other zones to the plugins after it',
      ask: 'lb.example.net A',
      reply: ['NOERROR aa rd ra', 'lb.example.net. 60 IN A 203.0.113.80'],
    },
    {
      name: 'passes on missing names with fallthrough',
      options: ['fallthrough'],
      ask: 'none.ext.test A',
      reply: ['NXDOMAIN aa rd ra'],
    },
    {
      name: 'passes on nothing else',
      options: ['fallthrough'],
      ask: 'x.dns.ext.test A',
      reply: ['NXDOMAIN aa rd', denial()],
    },
  ]
  for (const { name, options, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serveExternal(options).ask(ask), reply)
    })
  }

  test('leaves the cluster’s own names on the fast path', () => {
    const server = serveExternal()
    assert.notEqual(server.resolver.listeners[0]?.zones[0]?.chain.fastPath, undefined)
  })

  test('denies nothing while not all has been read', async () => {
    const server = serveExternal([], { freshness: 'partial' })
    assert.deepEqual(await server.ask('none.ext.test A'), ['SERVFAIL aa rd', denial()])
    assert.deepEqual(server.resolver.notReady(), ['k8s_external', 'kubernetes'])
  })

  test('needs a kubernetes beside it', () => {
    assert.deepEqual(problemsOf(block('k8s_external ext.test')), [
      'Corefile:2:3: "k8s_external" needs "kubernetes" in the same server block; add it',
    ])
  })

  test('takes the zones of its server block when it names none', async () => {
    const lines = ['kubernetes cluster.local', directive('k8s_external', 'ttl 7')]
    const server = serve(`ext.test {\n${lines.join('\n')}\n}`, { cluster: { objects: OUTSIDE } })
    assert.deepEqual(await server.ask('web.shop.ext.test A'), [
      'NOERROR aa rd',
      'web.shop.ext.test. 7 IN A 203.0.113.1',
    ])
  })
})
