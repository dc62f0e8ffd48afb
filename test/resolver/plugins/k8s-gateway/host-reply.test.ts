import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { denial, serveGateway, soaOf } from './objects.ts'

describe('the apex of a zone', () => {
  const ns = 'gw.test. 60 IN NS dns1.kube-system.gw.test.'
  const address = 'additional: dns1.kube-system.gw.test. 60 IN A 203.0.113.53'
  const wildcard = `
- kind: Ingress
  metadata: {name: all, namespace: shop}
  spec: {rules: [{host: '*.gw.test'}]}
  status: {loadBalancer: {ingress: [{ip: 203.0.113.9}]}}
`
  const cases: {
    name: string
    options?: readonly string[]
    objects?: string
    ask: string
    reply: readonly string[]
  }[] = [
    { name: 'has an SOA record', ask: 'gw.test SOA', reply: ['NOERROR aa rd', soaOf()] },
    {
      name: 'has a name server, whose address is in the additional section',
      options: ['ttl 5'],
      ask: 'gw.test NS',
      reply: ['NOERROR aa rd', ns, address],
    },
    {
      name: 'has a second name server if there is one',
      options: ['secondary dns2.kube-system'],
      ask: 'gw.test NS',
      reply: [
        'NOERROR aa rd',
        ns,
        'gw.test. 60 IN NS dns2.kube-system.gw.test.',
        address,
        'additional: dns2.kube-system.gw.test. 60 IN A 203.0.113.54',
      ],
    },
    {
      name: 'has a name server whose address is not known',
      options: ['apex ns.infra'],
      ask: 'gw.test NS',
      reply: ['NOERROR aa rd', 'gw.test. 60 IN NS ns.infra.gw.test.'],
    },
    { name: 'has nothing else', ask: 'gw.test A', reply: ['NOERROR aa rd', denial()] },
    {
      name: 'has what the wildcard below it has, as in k8s_gateway',
      objects: wildcard,
      ask: 'gw.test A',
      reply: ['NOERROR aa rd', 'gw.test. 60 IN A 203.0.113.9'],
    },
    {
      name: 'has an SOA record beside what a wildcard has',
      objects: wildcard,
      ask: 'gw.test SOA',
      reply: ['NOERROR aa rd', soaOf()],
    },
  ]
  for (const { name, options, objects, ask, reply } of cases) {
    test(name, async () => {
      const server = serveGateway(options, objects === undefined ? {} : { objects })
      assert.deepEqual(await server.ask(ask), reply)
    })
  }
})
