import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, type Server, serve } from '../../../ask.ts'
import type { UpstreamAct } from '../../../fake-host.ts'
import { denial } from './objects.ts'

const CONFIG_MAP = `
- kind: ConfigMap
  metadata: {name: z, namespace: shop, labels: {kubedoh.dev/hostnames: zone}}
  data: {gw.test: "$TTL 300\\nzone-alias IN CNAME mail.out.test.\\nrelative IN CNAME own\\n"}`
const RECORD = `
- kind: DNSRecord
  metadata: {name: r, namespace: shop}
  spec: {zone: gw.test, name: record-alias, type: CNAME, values: [mail.out.test]}`

const endpoints = (...lines: readonly string[]): string => {
  const texts = lines.map((line) => {
    const [name, type, ...targets] = line.split(' ')
    return `{dnsName: "${name}", recordType: ${type}, targets: [${targets.join()}]}`
  })
  return `
- kind: DNSEndpoint
  metadata: {name: "e-${texts.length}-${lines[0]?.replace(/[^a-z0-9]+/g, '-')}", namespace: shop}
  spec: {endpoints: [${texts.join()}]}`
}

const OUT: Readonly<Record<string, UpstreamAct>> = {
  'mail.out.test. TXT': ['NOERROR aa ra', 'mail.out.test. 30 IN TXT "k=rsa"'],
  'mail.out.test. A': ['NOERROR aa ra', 'mail.out.test. 30 IN A 192.0.2.1'],
  'mail.out.test. MX': [
    'NOERROR aa ra',
    'mail.out.test. 30 IN CNAME next.out.test.',
    'next.out.test. 30 IN MX 1 mx.out.test.',
    'additional: mx.out.test. 30 IN A 192.0.2.2',
  ],
  'mail.out.test. AAAA': [
    'NOERROR aa ra',
    'authority: out.test. 60 IN SOA a.out.test. b.out.test. 1 2 3 4 5',
    'authority: out.test. 60 IN NS a.out.test.',
  ],
  'gone.out.test. TXT': [
    'NXDOMAIN aa ra',
    'authority: out.test. 60 IN SOA a.out.test. b.out.test. 1 2 3 4 5',
  ],
  'broken.out.test. TXT': ['SERVFAIL ra'],
  'closed.out.test. TXT': ['REFUSED ra'],
  'one.out.test. A': ['NOERROR aa ra', 'one.out.test. 30 IN A 192.0.2.3'],
  'two.out.test. A': ['NOERROR aa ra', 'two.out.test. 30 IN A 192.0.2.4'],
  'two.out.test. TXT': ['NOERROR aa ra', 'two.out.test. 30 IN TXT "two"'],
  'one.out.test. TXT': ['NOERROR aa ra', 'one.out.test. 30 IN TXT "one"'],
}

function serveAliases(objects: string, ...more: readonly string[]): Server {
  const gateway = directive(
    'k8s_gateway gw.test',
    'resources DNSEndpoint DNSRecord ConfigMap Ingress',
    'recordZones shop gw.test',
    ...more,
  )
  return serve(block(gateway, 'forward . 192.0.2.53'), {
    cluster: { objects },
    upstream: ({ question }) => {
      const [name = '', , type = ''] = question.split(' ')
      return OUT[`${name} ${type}`] ?? ['NXDOMAIN aa ra']
    },
  })
}

describe('a CNAME', () => {
  for (const { source, objects, name, ttl } of [
    {
      source: 'of a DNSEndpoint',
      objects: endpoints('alias.gw.test CNAME mail.out.test'),
      name: 'alias',
      ttl: 60,
    },
    { source: 'of a DNSRecord', objects: RECORD, name: 'record-alias', ttl: 60 },
    { source: 'of a ConfigMap', objects: CONFIG_MAP, name: 'zone-alias', ttl: 300 },
    {
      source: 'of a wildcard',
      objects: endpoints('*.w.gw.test CNAME mail.out.test'),
      name: 'x.y.w',
      ttl: 60,
    },
  ]) {
    const link = `${name}.gw.test. ${ttl} IN CNAME mail.out.test.`
    const soa = 'authority: out.test. 60 IN SOA a.out.test. b.out.test. 1 2 3 4 5'
    const cases: { type: string; lines: readonly string[] }[] = [
      { type: 'TXT', lines: [link, 'mail.out.test. 30 IN TXT "k=rsa"'] },
      { type: 'A', lines: [link, 'mail.out.test. 30 IN A 192.0.2.1'] },
      { type: 'AAAA', lines: [link, soa] },
      {
        type: 'MX',
        lines: [
          link,
          'mail.out.test. 30 IN CNAME next.out.test.',
          'next.out.test. 30 IN MX 1 mx.out.test.',
        ],
      },
      { type: 'CNAME', lines: [link] },
      { type: 'ANY', lines: [link] },
    ]
    for (const { type, lines } of cases) {
      test(`${source} holds for ${type}`, async () => {
        const server = serveAliases(objects)
        const [head, ...rest] = await server.ask(`${name}.gw.test ${type}`)
        assert.deepEqual([head, ...rest], ['NOERROR aa rd', ...lines])
      })
    }
  }

  const link = (to: string): string => `x.gw.test. 60 IN CNAME ${to}.`
  const cases: { name: string; objects: string; ask: string; reply: readonly string[] }[] = [
    {
      name: 'keeps what its target lacks',
      objects: endpoints('x.gw.test CNAME gone.out.test'),
      ask: 'x.gw.test TXT',
      reply: [
        'NXDOMAIN aa rd',
        link('gone.out.test'),
        'authority: out.test. 60 IN SOA a.out.test. b.out.test. 1 2 3 4 5',
      ],
    },
    {
      name: 'fails where its target cannot be looked up',
      objects: endpoints('x.gw.test CNAME broken.out.test'),
      ask: 'x.gw.test TXT',
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'stands alone where its target is refused',
      objects: endpoints('x.gw.test CNAME closed.out.test'),
      ask: 'x.gw.test TXT',
      reply: ['NOERROR aa rd', link('closed.out.test')],
    },
    {
      name: 'keeps the letter case of the query',
      objects: endpoints('x.gw.test CNAME mail.out.test'),
      ask: 'X.gw.test CNAME',
      reply: ['NOERROR aa rd', 'X.gw.test. 60 IN CNAME mail.out.test.'],
    },
    {
      name: 'may point to another hostname',
      objects: endpoints('x.gw.test CNAME y.gw.test', 'y.gw.test TXT hi'),
      ask: 'x.gw.test TXT',
      reply: ['NOERROR aa rd', link('y.gw.test'), 'y.gw.test. 60 IN TXT "hi"'],
    },
    {
      name: 'is at an apex what its target has: addresses only',
      objects: endpoints('gw.test CNAME mail.out.test'),
      ask: 'gw.test A',
      reply: ['NOERROR aa rd', 'gw.test. 30 IN A 192.0.2.1'],
    },
    {
      name: 'is at an apex no other record',
      objects: endpoints('gw.test CNAME mail.out.test'),
      ask: 'gw.test TXT',
      reply: ['NOERROR aa rd', denial()],
    },
    {
      name: 'leaves the texts beside it alone',
      objects: endpoints('x.gw.test CNAME mail.out.test', 'x.gw.test TXT heritage'),
      ask: 'x.gw.test TXT',
      reply: ['NOERROR aa rd', 'x.gw.test. 60 IN TXT "heritage"'],
    },
    {
      name: 'adds its addresses to those that other objects give the name, as before',
      objects:
        endpoints('x.gw.test CNAME one.out.test') +
        endpoints('x.gw.test A 192.0.2.9', 'z.gw.test A 192.0.2.8'),
      ask: 'x.gw.test A',
      reply: ['NOERROR aa rd', 'x.gw.test. 60 IN A 192.0.2.9', 'x.gw.test. 30 IN A 192.0.2.3'],
    },
    {
      name: 'of several adds its addresses, as before',
      objects: endpoints('x.gw.test CNAME one.out.test two.out.test'),
      ask: 'x.gw.test A',
      reply: ['NOERROR aa rd', 'x.gw.test. 30 IN A 192.0.2.3', 'x.gw.test. 30 IN A 192.0.2.4'],
    },
    {
      name: 'of several is the first one for other types',
      objects: endpoints('x.gw.test CNAME one.out.test two.out.test'),
      ask: 'x.gw.test TXT',
      reply: ['NOERROR aa rd', link('one.out.test'), 'one.out.test. 30 IN TXT "one"'],
    },
    {
      name: 'is none where the hostname is that of a load balancer',
      objects: `
- kind: Ingress
  metadata: {name: i, namespace: shop}
  spec: {rules: [{host: x.gw.test}]}
  status: {loadBalancer: {ingress: [{hostname: mail.out.test}]}}`,
      ask: 'x.gw.test TXT',
      reply: ['NOERROR aa rd', denial()],
    },
  ]
  for (const { name, objects, ask, reply } of cases) {
    test(name, async () => assert.deepEqual(await serveAliases(objects).ask(ask), reply))
  }

  test('that points in a circle fails', async () => {
    const objects = endpoints('x.gw.test CNAME y.gw.test', 'y.gw.test CNAME x.gw.test')
    assert.deepEqual(await serveAliases(objects).ask('x.gw.test TXT'), ['SERVFAIL rd'])
  })

  test('stands alone where no plugin knows its target', async () => {
    const gateway = directive('k8s_gateway gw.test', 'resources DNSEndpoint')
    const server = serve(`gw.test {\n${gateway}\n}`, {
      cluster: { objects: endpoints('x.gw.test CNAME mail.out.test') },
    })
    assert.deepEqual(await server.ask('x.gw.test TXT'), [
      'NOERROR aa rd',
      'x.gw.test. 60 IN CNAME mail.out.test.',
    ])
  })
})
