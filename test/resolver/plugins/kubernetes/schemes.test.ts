import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, type Server, serve } from '../../../ask.ts'
import { SHOP, soa } from './objects.ts'

function serveShop(kubernetes: string, objects: string): Server {
  return serve(block(kubernetes), { cluster: { objects } })
}

describe('zones of several clusters', () => {
  const objects = `${SHOP}
- kind: ServiceImport
  metadata: {name: far, namespace: shop}
  spec: {ips: [192.0.2.77], ports: [{name: http, port: 80}]}
- kind: EndpointSlice
  metadata:
    name: far-1
    namespace: shop
    labels:
      multicluster.kubernetes.io/service-name: far
      multicluster.kubernetes.io/source-cluster: east
  endpoints: [{addresses: [198.51.100.77]}]
  ports: [{name: http, port: 8080}]
`
  const line = directive(
    'kubernetes cluster.local clusterset.local in-addr.arpa',
    'multicluster clusterset.local',
  )
  const far = 'far.shop.svc.clusterset.local'
  const absent = ['NXDOMAIN aa rd', soa('clusterset.local')]
  const cases: { name: string; ask: string; reply: string[] }[] = [
    {
      name: 'have what several clusters have together',
      ask: `${far} A`,
      reply: ['NOERROR aa rd', `${far}. 5 IN A 192.0.2.77`],
    },
    {
      name: 'do not have what one of them has for itself',
      ask: 'web.shop.svc.clusterset.local A',
      reply: absent,
    },
    {
      name: 'have their endpoints by cluster',
      ask: `198-51-100-77.east.${far} A`,
      reply: ['NOERROR aa rd', `198-51-100-77.east.${far}. 5 IN A 198.51.100.77`],
    },
    {
      name: 'have no endpoints without a cluster',
      ask: `198-51-100-77.${far} A`,
      reply: absent,
    },
    {
      name: 'have ports, one underscore of which may be left out',
      ask: `_http.tcp.${far} A`,
      reply: ['NOERROR aa rd', `_http.tcp.${far}. 5 IN A 192.0.2.77`],
    },
    {
      name: 'take names without underscores for those of endpoints',
      ask: `http.tcp.${far} A`,
      reply: absent,
    },
    {
      name: 'do not reach below endpoints',
      ask: `x.198-51-100-77.east.${far} A`,
      reply: absent,
    },
  ]
  for (const { name, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serveShop(line, objects).ask(ask), reply)
    })
  }

  test('leave the cluster’s own zone as it is', async () => {
    const server = serveShop(line, objects)
    assert.deepEqual(await server.ask('web.shop.svc.cluster.local A'), [
      'NOERROR aa rd',
      'web.shop.svc.cluster.local. 5 IN A 192.0.2.10',
    ])
    assert.deepEqual(await server.ask('far.shop.svc.cluster.local A'), ['NXDOMAIN aa rd', soa()])
    assert.equal(server.host.opened.length, 2)
  })
})

describe('the naming of OpenShift 3', () => {
  const line = directive('kubernetes cluster.local', 'naming openshift3')
  const web = 'web.shop.svc.cluster.local'
  const address = (name: string): string[] => ['NOERROR aa rd', `${name}. 30 IN A 192.0.2.10`]
  const cases: { name: string; ask: string; reply: string[] }[] = [
    { name: 'has any name below a Service', ask: `foo.${web} A`, reply: address(`foo.${web}`) },
    { name: 'has it at any depth', ask: `c.d.E.${web} A`, reply: address(`c.d.E.${web}`) },
    {
      name: 'has no data of other types there',
      ask: `foo.${web} AAAA`,
      reply: ['NOERROR aa rd', soa('cluster.local', 30)],
    },
    {
      name: 'has no names below a headless Service',
      ask: 'foo.db.shop.svc.cluster.local A',
      reply: ['NXDOMAIN aa rd', soa('cluster.local', 30)],
    },
    {
      name: 'has no names below a missing Service',
      ask: 'foo.none.shop.svc.cluster.local A',
      reply: ['NXDOMAIN aa rd', soa('cluster.local', 30)],
    },
    {
      name: 'has endpoints of any Service',
      ask: 'web.shop.endpoints.cluster.local A',
      reply: ['NOERROR aa rd', 'web.shop.endpoints.cluster.local. 30 IN A 198.51.100.1'],
    },
    {
      name: 'has them by a prefix as well',
      ask: `_endpoints.${web} A`,
      reply: ['NOERROR aa rd', `_endpoints.${web}. 30 IN A 198.51.100.1`],
    },
    {
      name: 'has the names of Pods',
      ask: '198-51-100-1.shop.pod.cluster.local A',
      reply: ['NOERROR aa rd', '198-51-100-1.shop.pod.cluster.local. 30 IN A 198.51.100.1'],
    },
    {
      name: 'has no names of endpoints without a Service',
      ask: 'shop.endpoints.cluster.local A',
      reply: ['NXDOMAIN aa rd', soa('cluster.local', 30)],
    },
  ]
  for (const { name, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serveShop(line, SHOP).ask(ask), reply)
    })
  }
})
