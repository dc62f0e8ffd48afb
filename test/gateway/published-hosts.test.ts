/**
 * Names outside of a cluster, from the exporter's Corefile and objects to the gateway's answers.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { loadExportDirectives } from '../../src/cli/export/export-directive.ts'
import { createObjectSource } from '../../src/cluster/follow/export-source.ts'
import { namingOptions, publishedTrees } from '../../src/cluster/follow/naming.ts'
import { encodeBase64url } from '../../src/dns/bytes/base64url.ts'
import { hashToken } from '../../src/gateway/access/token.ts'
import type { HostZoneConflicts } from '../../src/gateway/snapshots/host-conflicts.ts'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'
import { objectsOf } from '../cluster/naming.ts'
import { read, section } from '../docs/pages.ts'
import { FakeHost } from '../fake-host.ts'
import { formatReply, parseQuestion } from '../message-text.ts'
import { CLIENT_TOKEN, clientSha256, Running } from './running.ts'
import { tokenRecord } from './tokens.ts'
import { WHOLE_SCOPE } from './whole-scope.ts'

const EXPORTER = `
. {
  kubernetes cluster.local
  k8s_external ext.test {
    ttl 7
  }
  k8s_gateway apps.test {
    resources HTTPRoute Ingress Service DNSEndpoint
    serviceBindings
    ttl 30
  }
  k8s_gateway apps.test {
    resources HTTPRoute Ingress Service DNSEndpoint
    clusterIPs
    ttl 30
  }
}
`
const GATEWAY = `
apps.test {
  view inside {
    expr incidr(client_ip(), 'NETWORK')
  }
  k8s_gateway {
    cluster shop
    clusterIPs
  }
}
apps.test other.test {
  k8s_gateway {
    cluster shop
  }
}
ext.test {
  k8s_external {
    cluster shop
  }
}
. {
  kubernetes cluster.local {
    cluster shop
  }
  k8s_external edge.test
  forward . https://192.0.2.53/dns-query
}
`
const OBJECTS = `
- { kind: Namespace, metadata: { name: shop } }
- { kind: Namespace, metadata: { name: blog } }
- kind: Ingress
  metadata: { name: web, namespace: shop, creationTimestamp: '2026-01-01T00:00:02Z' }
  spec: { rules: [{ host: www.apps.test }, { host: '*.any.apps.test' }] }
  status: { loadBalancer: { ingress: [{ ip: 203.0.113.1 }] } }
- kind: Ingress
  metadata: { name: web, namespace: blog, creationTimestamp: '2026-01-01T00:00:01Z' }
  spec: { rules: [{ host: www.apps.test }, { host: blog.apps.test }] }
  status: { loadBalancer: { ingress: [{ ip: 203.0.113.2 }] } }
- kind: Gateway
  metadata: { name: public, namespace: infra }
  spec:
    listeners:
      - { protocol: HTTPS, port: 443, allowedRoutes: { namespaces: { from: All } } }
      - { protocol: HTTPS, port: 8443, allowedRoutes: { namespaces: { from: All } } }
  status: { addresses: [{ value: 203.0.113.7 }] }
- kind: HTTPRoute
  metadata: { name: route, namespace: shop }
  spec: { hostnames: [route.apps.test], parentRefs: [{ name: public, namespace: infra }] }
- kind: Service
  metadata: { name: api, namespace: shop }
  spec: { type: LoadBalancer, clusterIP: 10.96.0.9, ports: [{ name: http, port: 80 }] }
  status: { loadBalancer: { ingress: [{ ip: 203.0.113.4 }] } }
- kind: Service
  metadata: { name: cdn, namespace: shop }
  spec: { type: LoadBalancer, clusterIP: 10.96.0.8 }
  status: { loadBalancer: { ingress: [{ hostname: lb.example.net }] } }
- kind: DNSEndpoint
  metadata: { name: texts, namespace: blog }
  spec:
    endpoints:
      - { dnsName: text.apps.test, recordType: TXT, targets: [hello] }
      - { dnsName: mail.apps.test, recordType: MX, targets: [10 mx.example.net], recordTTL: 9 }
      - { dnsName: apps.test, recordType: CNAME, targets: [lb.example.net] }
      - { dnsName: loop.apps.test, recordType: CNAME, targets: [pool.apps.test] }
      - { dnsName: pool.apps.test, recordType: CNAME, targets: [loop.apps.test] }`
/** Networks of a view: the tests' clients have addresses of the second one. */
const NOBODY = '10.0.0.0/8'
const CLIENTS = '192.0.2.0/24'
const ADMIN = 'the-token-of-the-operator'

async function start(
  t: TestContext,
  { objects = OBJECTS, corefile = EXPORTER, gateway = GATEWAY, inside = NOBODY } = {},
): Promise<Running> {
  const host = new FakeHost({
    upstream: ({ question }) =>
      question.startsWith('lb.example.net. IN A')
        ? ['NOERROR ra', 'lb.example.net. 20 IN A 203.0.113.80']
        : ['NXDOMAIN ra'],
  })
  const running = await Running.start(
    {
      COREFILE: gateway.replace('NETWORK', inside),
      EXPIRE_SECONDS: '600',
      CLIENT_TOKEN_SHA256: clientSha256,
      ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
    },
    host,
  )
  const path = join(temporaryFolder(t, { Corefile: corefile }), 'Corefile')
  const { directive, trees } = loadExportDirectives(path)
  const localAddresses: string[] = []
  const source = createObjectSource(objectsOf(objects), {
    naming: namingOptions(directive, localAddresses),
    trees: publishedTrees(directive, { localAddresses, cluster: 'shop', trees }),
    onWarning: (message) =>
      assert.match(message, /belongs to Ingress blog\/web|point in a circle$/),
    now: host.now,
  })
  const facts = { sources: {}, confirmedMs: host.now() }
  await running.exporter(host.now).publish(source.build(), facts)
  return running
}

async function askWith(running: Running, token: string, question: string): Promise<string[]> {
  const { message } = parseQuestion(question)
  const response = await running.get(`/dns-query?dns=${encodeBase64url(message)}`, token)
  assert.equal(response.status, 200)
  return formatReply(new Uint8Array(await response.arrayBuffer()))
}

describe('a gateway answers from published trees', () => {
  const cases: { question: string; lines: readonly string[] }[] = [
    { question: 'www.apps.test A', lines: ['www.apps.test. 30 IN A 203.0.113.2'] },
    { question: 'x.any.apps.test A', lines: ['x.any.apps.test. 30 IN A 203.0.113.1'] },
    { question: 'route.apps.test A', lines: ['route.apps.test. 30 IN A 203.0.113.7'] },
    {
      question: 'route.apps.test HTTPS',
      lines: [
        'route.apps.test. 30 IN HTTPS 1 . alpn="h2,http/1.1"',
        'additional: route.apps.test. 30 IN A 203.0.113.7',
      ],
    },
    {
      question: '_8443._https.Route.apps.test HTTPS',
      lines: [
        '_8443._https.Route.apps.test. 30 IN HTTPS 1 route.apps.test. alpn="h2,http/1.1"',
        'additional: Route.apps.test. 30 IN A 203.0.113.7',
      ],
    },
    { question: 'text.apps.test TXT', lines: ['text.apps.test. 30 IN TXT "hello"'] },
    { question: 'mail.apps.test MX', lines: ['mail.apps.test. 9 IN MX 10 mx.example.net.'] },
    { question: 'apps.test A', lines: ['apps.test. 20 IN A 203.0.113.80'] },
    { question: 'api.shop.apps.test A', lines: ['api.shop.apps.test. 30 IN A 203.0.113.4'] },
    { question: 'cdn.shop.apps.test A', lines: ['cdn.shop.apps.test. 20 IN A 203.0.113.80'] },
    { question: 'api.shop.ext.test A', lines: ['api.shop.ext.test. 7 IN A 203.0.113.4'] },
    { question: 'api.shop.edge.test A', lines: ['api.shop.edge.test. 7 IN A 203.0.113.4'] },
    {
      question: '_http._tcp.api.shop.ext.test SRV',
      lines: [
        '_http._tcp.api.shop.ext.test. 5 IN SRV 0 100 80 api.shop.ext.test.',
        'additional: api.shop.ext.test. 7 IN A 203.0.113.4',
      ],
    },
  ]
  for (const { question, lines } of cases) {
    test(question, async (t) => {
      const running = await start(t)
      const [head, ...rest] = await running.ask(question)
      assert.match(head ?? '', /^NOERROR aa/)
      assert.deepEqual(rest, lines)
    })
  }

  test('lists of the names, each only where queries find it', async (t) => {
    const running = await start(t)
    const { token, record } = await tokenRecord({ scope: { ...WHOLE_SCOPE, namespaces: ['blog'] } })
    await running.tokens.add(record)
    const listed = async (query: string, by = CLIENT_TOKEN): Promise<string[]> => {
      const { names } = JSON.parse(await (await running.get(`/v1/names?${query}`, by)).text())
      return names.map(({ name }: { name: string }) => name)
    }
    const hosts = ['', 'mail.', 'pool.', 'text.', 'www.'].map((name) => `${name}apps.test.`)
    const all = await listed('under=apps.test')
    for (const host of [...hosts, 'route.apps.test.']) assert.ok(all.includes(host), host)
    assert.equal(new Set(all).size, all.length)
    const seen = await listed('under=apps.test', token)
    for (const host of hosts) assert.ok(seen.includes(host), host)
    assert.ok(!seen.includes('route.apps.test.'))
    assert.deepEqual(await listed('under=apps.test&search=mai'), ['mail.apps.test.'])
    assert.deepEqual(await listed('under=shop.ext.test'), [
      'api.shop.ext.test.',
      'cdn.shop.ext.test.',
    ])
    assert.deepEqual(await listed('under=ext.test', token), ['blog.ext.test.'])
  })

  test('cluster IPs to the clients of a view', async (t) => {
    const running = await start(t, { inside: CLIENTS })
    const cases = [
      ['api.shop.apps.test A', 'api.shop.apps.test. 30 IN A 10.96.0.9'],
      ['cdn.shop.apps.test A', 'cdn.shop.apps.test. 30 IN A 10.96.0.8'],
      ['x.any.apps.test A', 'x.any.apps.test. 30 IN A 203.0.113.1'],
      // The hostname of this DNSEndpoint is that of the load balancer of `cdn`.
      ['apps.test A', 'apps.test. 30 IN A 10.96.0.8'],
      ['api.shop.ext.test A', 'api.shop.ext.test. 7 IN A 203.0.113.4'],
    ] as const
    for (const [question, line] of cases) {
      const [head, ...lines] = await running.ask(question)
      assert.match(head ?? '', /^NOERROR aa/)
      assert.deepEqual(lines, [line])
    }
  })

  test('NXDOMAIN for names that no object has, also in zones the exporter does not have', async (t) => {
    const running = await start(t)
    for (const name of ['none.apps.test', 'www.other.test', 'none.shop.ext.test']) {
      assert.match((await running.ask(`${name} A`))[0] ?? '', /^NXDOMAIN aa/, name)
    }
  })

  test('SERVFAIL for hostnames that lead in a circle', async (t) => {
    const running = await start(t)
    assert.match((await running.ask('loop.apps.test A'))[0] ?? '', /^SERVFAIL/)
    assert.match((await running.ask('www.apps.test A'))[0] ?? '', /^NOERROR/)
  })

  test('SERVFAIL when the exporter publishes no such tree', async (t) => {
    const running = await start(t, { corefile: '. {\n  kubernetes cluster.local\n}\n' })
    const [head] = await running.ask('www.apps.test A')
    assert.match(head ?? '', /^SERVFAIL/)
    assert.match(JSON.stringify(running.host.events), /publishes no tree/)
  })

  test('with the age of the snapshot, marked when stale, and refused when expired', async (t) => {
    const running = await start(t)
    const age = async (): Promise<[string, string | null]> => {
      const { message } = parseQuestion('www.apps.test A +edns')
      const path = `/dns-query?dns=${encodeBase64url(message)}`
      const response = await running.get(path, CLIENT_TOKEN)
      const lines = formatReply(new Uint8Array(await response.arrayBuffer()))
      return [lines.join('\n'), response.headers.get('kubedoh-snapshot-age')]
    }
    assert.deepEqual((await age())[1], '0')
    await running.pass(120_000)
    const [stale, staleAge] = await age()
    assert.equal(staleAge, '120')
    assert.match(stale, /ede: 3/i)
    await running.pass(600_000)
    assert.match((await age())[0], /^SERVFAIL/)
  })

  test('explains the object of a name and who else claims it', async (t) => {
    const running = await start(t)
    const response = await running.get('/v1/explain?name=www.apps.test&type=A', ADMIN)
    const { facts } = (await response.json()) as { facts: readonly { readonly node: unknown }[] }
    assert.deepEqual(facts[0]?.node, {
      namespace: 'blog',
      object: 'Ingress blog/web',
      types: ['A'],
      rule: 'hostname',
      isImplied: false,
      rivals: ['Ingress shop/web'],
    })
  })
})

test('/v1/conflicts has hostnames in the form of docs/http-api.md', async (t) => {
  const [, example = ''] =
    /```json\n([\s\S]*?)```/.exec(section(read('docs/http-api.md'), '### Conflicts')) ?? []
  const response = await (await start(t)).get('/v1/conflicts', ADMIN)
  assert.deepEqual(await response.json(), { groups: [], hosts: [JSON.parse(example)] })
})

test('/v1/conflicts has the hostnames of a gateway that answers with cluster IPs only', async (t) => {
  const gateway = 'apps.test {\n  k8s_gateway {\n    cluster shop\n    clusterIPs\n  }\n}\n'
  const response = await (await start(t, { gateway })).get('/v1/conflicts', ADMIN)
  const { hosts } = (await response.json()) as { hosts: readonly HostZoneConflicts[] }
  assert.deepEqual(
    hosts.map(({ zones, conflicts }) => [zones, conflicts.map(({ host }) => host)]),
    [[['apps.test.'], ['www.apps.test.']]],
  )
})

describe('a token for one namespace', () => {
  const onlyShop = OBJECTS.split(/\n(?=- )/)
    .filter((object) => !/namespace: blog|name: blog/.test(object))
    .join('\n')
  const questions = [
    'www.apps.test A',
    'blog.apps.test A',
    'text.apps.test TXT',
    'x.any.apps.test A',
    'route.apps.test A',
    'apps.test NS',
    'apps.test SOA',
    'api.shop.ext.test A',
    'shop.ext.test A',
    'blog.ext.test A',
  ]
  for (const inside of [NOBODY, CLIENTS]) {
    test(`gets the same bytes as from a cluster without the other; inside: ${inside}`, async (t) => {
      const scope = { ...WHOLE_SCOPE, namespaces: ['shop'] }
      const { token, record } = await tokenRecord({ scope })
      const whole = await start(t, { inside })
      const part = await start(t, { inside, objects: onlyShop })
      for (const { tokens } of [whole, part]) await tokens.add(record)
      for (const question of questions) {
        const hidden = await askWith(whole, token, question)
        assert.deepEqual(hidden, await askWith(part, token, question), question)
      }
      // A client that does not see the older claim gets the younger one.
      const own = await askWith(whole, token, 'www.apps.test A')
      assert.deepEqual(own.slice(1), ['www.apps.test. 30 IN A 203.0.113.1'])
    })
  }
})
