import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { denial, serveGateway } from './objects.ts'

describe('load balancers with hostnames', () => {
  const cases: {
    name: string
    options?: readonly string[]
    ask: string
    reply: readonly string[]
  }[] = [
    {
      name: 'have at most the TTL of their addresses',
      ask: 'cdn.shop.gw.test A',
      reply: ['NOERROR aa rd', 'cdn.shop.gw.test. 20 IN A 203.0.113.80'],
    },
    {
      name: 'have at most the TTL of the directive',
      options: ['ttl 5'],
      ask: 'cdn.shop.gw.test A',
      reply: ['NOERROR aa rd', 'cdn.shop.gw.test. 5 IN A 203.0.113.80'],
    },
    {
      name: 'may have no address of a type',
      ask: 'cdn.shop.gw.test AAAA',
      reply: ['NOERROR aa rd', denial()],
    },
  ]
  for (const { name, options, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serveGateway(options).ask(ask), reply)
    })
  }

  test('are not denied when they cannot be looked up', async () => {
    const [first] = await serveGateway().ask('lost.shop.gw.test A')
    assert.equal(first, 'SERVFAIL rd')
  })

  test('are merged with those of others, each address once', async () => {
    const objects = `
- kind: Service
  metadata: {name: cdn, namespace: shop}
  spec: {type: LoadBalancer}
  status: {loadBalancer: {ingress: [
    {ip: 203.0.113.80}, {ip: 203.0.113.81}, {hostname: lb.example.net}, {hostname: lost.example.net}]}}
`
    const reply = await serveGateway([], { objects }).ask('cdn.shop.gw.test A')
    assert.deepEqual(reply.toSorted(), [
      'NOERROR aa rd',
      'cdn.shop.gw.test. 60 IN A 203.0.113.80',
      'cdn.shop.gw.test. 60 IN A 203.0.113.81',
    ])
  })
})

describe('names that point to each other', () => {
  const names = Array.from({ length: 12 }, (_, i) => `n${i}.gw.test`)
  const objects = names
    .map((name, i) => {
      const others = names.filter((_, k) => k !== i).map((one) => `{hostname: ${one}}`)
      return `
- kind: Ingress
  metadata: {name: i${i}, namespace: shop}
  spec: {rules: [{host: ${name}}]}
  status: {loadBalancer: {ingress: [${others.join(', ')}]}}
`
    })
    .join('')

  test('take no more look-ups than a query may cause', async () => {
    const server = serveGateway([], { objects })
    assert.deepEqual(await server.ask('n0.gw.test A'), ['SERVFAIL rd'])
  })
})
