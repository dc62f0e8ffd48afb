import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, serve } from '../../../ask.ts'
import { denial, HOSTS, serveGateway, soaOf } from './objects.ts'

type Case = {
  readonly name: string
  readonly options?: readonly string[]
  readonly ask: string
  readonly reply: readonly string[]
}

describe('k8s_gateway answers for', () => {
  const cases: readonly Case[] = [
    {
      name: 'a host of an Ingress',
      ask: 'app.gw.test A',
      reply: ['NOERROR aa rd', 'app.gw.test. 60 IN A 203.0.113.1'],
    },
    {
      name: 'names in any letter case',
      ask: 'APP.gw.test AAAA',
      reply: ['NOERROR aa rd', 'APP.gw.test. 60 IN AAAA 2001:db8::1'],
    },
    {
      name: 'a name that only has others’ types: it exists',
      ask: 'app.gw.test TXT',
      reply: ['NOERROR aa rd', denial()],
    },
    {
      name: 'a Service in each of its zones',
      ask: 'api.shop.b.test A',
      reply: ['NOERROR aa rd', 'api.shop.b.test. 60 IN A 203.0.113.4'],
    },
    {
      name: 'an address of another family: the name exists',
      ask: 'api.shop.gw.test AAAA',
      reply: ['NOERROR aa rd', denial()],
    },
    {
      name: 'any name of a wildcard',
      ask: 'x.wild.gw.test A',
      reply: ['NOERROR aa rd', 'x.wild.gw.test. 60 IN A 203.0.113.1'],
    },
    {
      name: 'no two labels in place of a wildcard',
      ask: 'x.y.wild.gw.test A',
      reply: ['NXDOMAIN aa rd', denial()],
    },
    {
      name: 'texts',
      options: ['resources DNSEndpoint'],
      ask: 'text.gw.test TXT',
      reply: ['NOERROR aa rd', 'text.gw.test. 60 IN TXT "hello"'],
    },
    {
      name: 'a name that has texts only: it exists',
      options: ['resources DNSEndpoint'],
      ask: 'text.gw.test A',
      reply: ['NOERROR aa rd', denial()],
    },
    {
      name: 'routes',
      options: ['resources HTTPRoute', 'ttl 5'],
      ask: 'route.gw.test A',
      reply: ['NOERROR aa rd', 'route.gw.test. 5 IN A 203.0.113.7'],
    },
    {
      name: 'no routes unless they are named',
      ask: 'route.gw.test A',
      reply: ['NXDOMAIN aa rd', denial()],
    },
    {
      name: 'no routes of Gateways of other classes',
      options: ['resources HTTPRoute', 'gatewayClasses istio'],
      ask: 'route.gw.test A',
      reply: ['NXDOMAIN aa rd', denial()],
    },
    {
      name: 'no Ingress of another class',
      options: ['ingressClasses nginx'],
      ask: 'other.gw.test A',
      reply: ['NXDOMAIN aa rd', denial()],
    },
    {
      name: 'no Service that no selector meets',
      options: ['serviceLabelSelectors tier=silver tier=bronze'],
      ask: 'api.shop.gw.test A',
      reply: ['NXDOMAIN aa rd', denial()],
    },
    {
      name: 'a Service that one of the selectors meets',
      options: ['serviceLabelSelectors tier=silver tier=gold'],
      ask: 'api.shop.gw.test A',
      reply: ['NOERROR aa rd', 'api.shop.gw.test. 60 IN A 203.0.113.4'],
    },
    {
      name: 'no object with the label that takes it out',
      ask: 'hidden.gw.test A',
      reply: ['NXDOMAIN aa rd', denial()],
    },
    {
      name: 'no object that points nowhere yet',
      ask: 'pending.gw.test A',
      reply: ['NXDOMAIN aa rd', denial()],
    },
    {
      name: 'no other type of missing names',
      ask: 'none.gw.test MX',
      reply: ['NXDOMAIN aa rd', denial()],
    },
    {
      name: 'other zones by the plugins after it',
      ask: 'none.example.net A',
      reply: ['NXDOMAIN aa rd ra'],
    },
    {
      name: 'missing names by the plugins after it, with fallthrough',
      options: ['fallthrough gw.test'],
      ask: 'none.gw.test A',
      reply: ['NXDOMAIN aa rd ra'],
    },
    {
      name: 'missing names in a zone that nothing falls through from',
      options: ['fallthrough gw.test'],
      ask: 'none.b.test A',
      reply: ['NXDOMAIN aa rd', denial('b.test')],
    },
    {
      name: 'the apex of a zone by the plugins after it, with fallthrough',
      options: ['fallthrough'],
      ask: 'gw.test SOA',
      reply: ['NXDOMAIN aa rd ra'],
    },
  ]
  for (const { name, options, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serveGateway(options).ask(ask), reply)
    })
  }
})

describe('k8s_gateway', () => {
  test('fails as long as nothing has been read', async () => {
    const server = serveGateway([], { presence: 'never' })
    const [first] = await server.ask('app.gw.test A')
    assert.equal(first, 'SERVFAIL rd')
    assert.deepEqual(server.resolver.notReady(), ['k8s_gateway'])
  })

  test('denies nothing while not all has been read', async () => {
    const server = serveGateway([], { freshness: 'partial' })
    assert.deepEqual(await server.ask('none.gw.test A'), ['SERVFAIL aa rd', denial()])
    assert.deepEqual(server.resolver.notReady(), ['k8s_gateway'])
  })

  test('reads the cluster of its own kubeconfig, or of another context', () => {
    const { host } = serveGateway(['kubeconfig /etc/kube/config edge'])
    const wanted = host.opened.map(({ kubeconfig }) => kubeconfig)
    assert.deepEqual(wanted, [{ path: '/etc/kube/config', context: 'edge' }])
  })

  test('takes the zones of its server block when it names none', async () => {
    const server = serve('b.test {\nk8s_gateway\n}', { cluster: { objects: HOSTS } })
    assert.deepEqual(await server.ask('b.test SOA'), ['NOERROR aa rd', soaOf('b.test')])
  })

  describe('of several directives', () => {
    const first = directive('k8s_gateway gw.test', 'resources Service', 'fallthrough')
    const second = directive('k8s_gateway gw.test b.test', 'resources Ingress')
    const server = serve(block(first, second), { cluster: { objects: HOSTS } })

    test('answers from the first that has the name, by fallthrough', async () => {
      const app = ['NOERROR aa rd', 'app.gw.test. 60 IN A 203.0.113.1']
      assert.deepEqual(await server.ask('app.gw.test A'), app)
      const api = ['NOERROR aa rd', 'api.shop.gw.test. 60 IN A 203.0.113.4']
      assert.deepEqual(await server.ask('api.shop.gw.test A'), api)
      assert.deepEqual(await server.ask('none.gw.test A'), ['NXDOMAIN aa rd', denial()])
    })

    test('gives each its own zones and options', async () => {
      assert.deepEqual(await server.ask('b.test SOA'), ['NOERROR aa rd', soaOf('b.test')])
      const none = ['NXDOMAIN aa rd', denial('b.test')]
      assert.deepEqual(await server.ask('api.shop.b.test A'), none)
    })

    test('does not go on without fallthrough', async () => {
      const services = directive('k8s_gateway gw.test', 'resources Service')
      const alone = serve(block(services, second), { cluster: { objects: HOSTS } })
      assert.deepEqual(await alone.ask('app.gw.test A'), ['NXDOMAIN aa rd', denial()])
    })
  })

  test('reports every error', () => {
    assert.deepEqual(
      problemsOf(block(directive('k8s_gateway gw.test', 'ttl 3601', 'resource A'))),
      [
        'Corefile:3:9: "3601" is not a number from 0 to 3600',
        'Corefile:4:5: "k8s_gateway" has no option "resource"; did you mean "resources"?',
      ],
    )
  })
})
