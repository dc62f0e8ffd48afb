import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { denial, serveGateway } from './objects.ts'

describe('the name server of the zones', () => {
  const cases: {
    name: string
    options?: readonly string[]
    ask: string
    reply: readonly string[]
  }[] = [
    {
      name: 'has the addresses of its Service, with the TTL of the zone',
      options: ['ttl 5'],
      ask: 'dns1.kube-system.gw.test A',
      reply: ['NOERROR aa rd', 'dns1.kube-system.gw.test. 60 IN A 203.0.113.53'],
    },
    {
      name: 'exists for other types',
      ask: 'dns1.kube-system.gw.test TXT',
      reply: ['NOERROR aa rd', denial()],
    },
    {
      name: 'exists without a Service',
      options: ['apex ns.infra'],
      ask: 'ns.infra.b.test A',
      reply: ['NOERROR aa rd', denial('b.test', 'ns.infra')],
    },
    {
      name: 'has nothing below it, also with fallthrough',
      options: ['fallthrough'],
      ask: 'x.dns1.kube-system.gw.test A',
      reply: ['NXDOMAIN aa rd', denial()],
    },
  ]
  for (const { name, options, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serveGateway(options).ask(ask), reply)
    })
  }
})
