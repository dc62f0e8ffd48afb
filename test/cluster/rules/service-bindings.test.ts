import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parse } from 'yaml'
import { parseObject } from '../../../src/cluster/objects/parse-object.ts'
import { HostGroups } from '../../../src/cluster/trees/host-groups.ts'
import { formatHosts, hostsTree, linesOf, objectsOf } from '../naming.ts'

const gateway = (listeners: string, value = '203.0.113.7'): string => `
- kind: Gateway
  metadata: { name: public, namespace: infra }
  spec: { listeners: [${listeners}] }
  status: { addresses: [{ value: ${value} }] }`
const route = (host: string, parent = '', name = 'web'): string => `
- kind: HTTPRoute
  metadata: { name: ${name}, namespace: shop }
  spec: { hostnames: ['${host}'], parentRefs: [{ name: public, namespace: infra, ${parent} }] }`
const listener = (
  name: string,
  port: number,
  hostname = '',
  more = 'protocol: HTTPS, allowedRoutes: { namespaces: { from: All } }',
): string => `{ name: ${name}, port: ${port}, hostname: '${hostname}', ${more} }`
const service = (ports: string, ip = 'ip: 203.0.113.5', more = ''): string => `
- kind: Service
  metadata: { name: web, namespace: shop, annotations: { coredns.io/hostname: web.a.test, ${more} } }
  spec: { type: LoadBalancer, clusterIP: 10.96.0.4, ports: [${ports}] }
  status: { loadBalancer: { ingress: [{ ${ip} }] } }`
const port = (number: number, appProtocol: string, protocol = 'TCP'): string =>
  `{ port: ${number}, appProtocol: ${appProtocol}, protocol: ${protocol} }`

const GRPC_ONLY =
  'protocol: HTTPS, allowedRoutes: { namespaces: { from: All }, kinds: [{ kind: GRPCRoute }] }'

/** Kinds of objects in the tests of bad input. */
const SOURCES = ['HTTPRoute', 'Gateway', 'Ingress', 'Service'] as const
const RESOURCES = ['HTTPRoute', 'GRPCRoute', 'TLSRoute', 'Gateway', 'Ingress', 'Service'] as const

/** Values of a YAML list. */
function valuesOf(yaml: string): readonly unknown[] {
  const values: unknown = parse(yaml)
  return Array.isArray(values) ? values : []
}

function groupsOf(objects: string, hasBindings = true): HostGroups {
  const tree = hostsTree({ resources: RESOURCES, hasBindings, annotations: ['t.io/'] })
  const groups = new HostGroups(tree)
  for (const object of objectsOf(objects)) groups.set(object)
  return groups
}

/** The records of changed names, without those once more below the zone. */
function linesIn(groups: HostGroups): string[] {
  const lines = formatHosts(groups.takeChanged().flatMap((name) => groups.entriesOf(name)))
  return lines.filter((line) => !/^\S+\.a\.test\.a\.test /.test(line))
}

const A = 'web.a.test 60 A 203.0.113.7'
const OWN = 'web.a.test 60 HTTPS 1 . alpn="h2,http/1.1"'

describe('bindings of routes and Gateways', () => {
  const cases: { name: string; objects: string; lines: string }[] = [
    {
      name: 'are at the hostname for port 443',
      objects: gateway(listener('all', 443)) + route('web.a.test'),
      lines: `${A}\n${OWN}`,
    },
    {
      name: 'are below a port prefix for other ports',
      objects: gateway(`${listener('a', 443)}, ${listener('b', 8443)}`) + route('web.a.test'),
      lines: `${A}\n${OWN}
        _8443._https.web.a.test 60 HTTPS 1 web.a.test. alpn="h2,http/1.1"`,
    },
    {
      name: 'are those of one listener if the route names it',
      objects:
        gateway(`${listener('a', 443)}, ${listener('b', 8443)}`) +
        route('web.a.test', 'sectionName: a'),
      lines: `${A}\n${OWN}`,
    },
    {
      name: 'are those of one port if the route names it',
      objects:
        gateway(`${listener('a', 443)}, ${listener('b', 8443)}`) + route('web.a.test', 'port: 443'),
      lines: `${A}\n${OWN}`,
    },
    {
      name: 'need a listener with the hostname, or with a wildcard for it',
      objects:
        gateway(`${listener('a', 443, '*.a.test')}, ${listener('b', 8443, 'other.a.test')}`) +
        route('web.a.test', 'sectionName: a') +
        route('other.b.test', '', 'other'),
      lines: `${A}\n${OWN}
        '*.a.test' 60 A 203.0.113.7
        '*.a.test' 60 HTTPS 1 . alpn="h2,http/1.1"
        other.a.test 60 A 203.0.113.7
        other.a.test 60 HTTPS 1 . alpn="h2,http/1.1"
        _8443._https.other.a.test 60 HTTPS 1 other.a.test. alpn="h2,http/1.1"
        other.b.test.a.test 60 A 203.0.113.7`.replaceAll("'", ''),
    },
    {
      name: 'are absent for other protocols, which a browser must not leave for HTTPS',
      objects:
        gateway(
          ['HTTP', 'TLS', 'TCP', 'UDP']
            .map((kind) => listener(kind, 443, '', `protocol: ${kind}`))
            .join(),
        ) + route('web.a.test'),
      lines: A,
    },
    {
      name: 'are absent for routes of a kind that no HTTPS listener takes (TLS is not HTTPS)',
      objects: gateway(listener('all', 443)) + route('web.a.test').replace('HTTPRoute', 'TLSRoute'),
      lines: A,
    },
    {
      name: 'are absent for routes of a kind that the listener does not take',
      objects:
        gateway(listener('all', 443, '', GRPC_ONLY)) +
        route('web.a.test') +
        route('rpc.a.test', '', 'rpc').replace('HTTPRoute', 'GRPCRoute'),
      lines: `${A}
        rpc.a.test 60 A 203.0.113.7
        rpc.a.test 60 HTTPS 1 . alpn="h2,http/1.1"`,
    },
    {
      name: 'are absent for routes of other namespaces, which a listener takes only if it says so',
      objects:
        gateway(listener('all', 443, '', 'protocol: HTTPS')) +
        route('web.a.test') +
        route('in.a.test').replace('namespace: shop', 'namespace: infra'),
      lines: `${A}
        in.a.test 60 A 203.0.113.7
        in.a.test 60 HTTPS 1 . alpn="h2,http/1.1"`,
    },
    {
      name: 'are absent for a Gateway of another API',
      objects: gateway(listener('all', 443)) + route('web.a.test', 'group: networking.istio.io'),
      lines: '',
    },
    {
      name: 'are absent for a Gateway that has a hostname, and for one without an address',
      objects: gateway(listener('all', 443), 'lb.example.net') + route('web.a.test'),
      lines: 'web.a.test 60 CNAME lb.example.net.',
    },
    {
      name: 'are absent if another route adds a Gateway that has a hostname',
      objects:
        gateway(listener('all', 443)) +
        gateway(listener('all', 80, '', 'protocol: HTTP'), 'lb.example.net').replace(
          'public',
          'b',
        ) +
        route('web.a.test') +
        route('web.a.test', '', 'b').replace('name: public', 'name: b'),
      lines: `${A}\nweb.a.test 60 CNAME lb.example.net.`,
    },
    {
      name: 'of several routes are one record',
      objects: gateway(listener('all', 443)) + route('web.a.test') + route('web.a.test', '', 'b'),
      lines: `${A}\n${OWN}`,
    },
  ]
  for (const { name, objects, lines } of cases) {
    test(name, () => assert.deepEqual(linesIn(groupsOf(objects)), linesOf(lines)))
  }

  test('follow the listeners of the Gateway', () => {
    const groups = groupsOf(gateway(listener('a', 8443)) + route('web.a.test'))
    const prefixed = '_8443._https.web.a.test 60 HTTPS 1 web.a.test. alpn="h2,http/1.1"'
    assert.deepEqual(linesIn(groups), linesOf(`${A}\n${prefixed}`))
    for (const object of objectsOf(gateway(listener('a', 443)))) groups.set(object)
    const changed = groups.takeChanged()
    assert.ok(changed.includes('_8443._https.web.a.test'))
    const lines = formatHosts(changed.flatMap((name) => groups.entriesOf(name)))
    assert.deepEqual(lines.filter((line) => line.includes(' HTTPS ')).length, 2)
    groups.delete('Gateway', 'infra', 'public')
    assert.deepEqual(linesIn(groups), [])
  })
})

describe('bindings of Ingresses', () => {
  const ingress = (hosts: string, tls: string, to = 'ip: 203.0.113.7'): string => `
- kind: Ingress
  metadata: { name: web, namespace: shop }
  spec: { rules: [${hosts.split(' ').map((host) => `{ host: '${host}' }`)}], tls: [${tls}] }
  status: { loadBalancer: { ingress: [{ ${to} }] } }`
  const cases: { name: string; objects: string; lines: string }[] = [
    {
      name: 'are at the hosts that have TLS',
      objects: ingress('web.a.test plain.a.test', '{ hosts: [Web.a.test], secretName: web }'),
      lines: `${A}\n${OWN}\nplain.a.test 60 A 203.0.113.7`,
    },
    {
      name: 'need the host itself, which a wildcard of TLS does not have',
      objects: ingress('web.a.test *.x.a.test', "{ hosts: ['*.a.test', '*.x.a.test'] }"),
      lines: `${A}
        *.x.a.test 60 A 203.0.113.7
        *.x.a.test 60 HTTPS 1 . alpn="h2,http/1.1"`,
    },
    {
      name: 'are absent for TLS without hosts, whose certificate may have others',
      objects: ingress('web.a.test', '{ secretName: web }'),
      lines: A,
    },
    {
      name: 'are absent for a load balancer with a hostname',
      objects: ingress('web.a.test', '{ hosts: [web.a.test] }', 'hostname: lb.example.net'),
      lines: 'web.a.test 60 CNAME lb.example.net.',
    },
  ]
  for (const { name, objects, lines } of cases) {
    test(name, () => assert.deepEqual(linesIn(groupsOf(objects)), linesOf(lines)))
  }

  test('follow its TLS', () => {
    const groups = groupsOf(ingress('web.a.test', '{ hosts: [web.a.test] }'))
    assert.deepEqual(linesIn(groups), [A, OWN])
    for (const object of objectsOf(ingress('web.a.test', ''))) groups.set(object)
    assert.deepEqual(linesIn(groups), [A])
  })
})

describe('bindings of Services', () => {
  const at = 'web.a.test 60 A 203.0.113.5'
  const cases: { name: string; objects: string; lines: string }[] = [
    {
      name: 'are those of https by its ports, with h3 where UDP has the port, too',
      objects: service(
        [port(443, 'https'), port(443, 'https', 'UDP'), port(444, 'kubernetes.io/wss')].join(),
      ),
      lines: `${at}
        web.a.test 60 HTTPS 1 . alpn="h3,h2,http/1.1"
        _444._https.web.a.test 60 HTTPS 1 web.a.test. alpn="h2,http/1.1"`,
    },
    {
      name: 'are those of DNS over TLS and over QUIC',
      objects: service(
        [port(853, 'domain-s'), port(853, 'domain-s', 'UDP'), port(8853, 'domain-s')].join(),
      ),
      lines: `${at}
        _dns.web.a.test 60 SVCB 1 web.a.test. alpn="dot,doq"
        _dns.web.a.test 60 SVCB 1 web.a.test. alpn="dot" port="8853"`,
    },
    {
      name: 'have the TTL of the Service, and its internal hostname',
      objects: service(
        port(443, 'https'),
        'ip: 203.0.113.5',
        "t.io/ttl: '9', t.io/internal-hostname: in.a.test",
      ),
      lines: `web.a.test 9 A 203.0.113.5
        web.a.test 9 HTTPS 1 . alpn="h2,http/1.1"
        in.a.test 9 A 10.96.0.4
        in.a.test 9 HTTPS 1 . alpn="h2,http/1.1"`,
    },
    {
      name: 'are absent for protocols without TLS',
      objects: service(
        [port(443, 'http'), port(80, 'kubernetes.io/h2c'), port(81, 'kubernetes.io/ws')].join(),
      ),
      lines: at,
    },
    {
      name: 'are absent for HTTP/3 alone',
      objects: service(port(443, 'https', 'UDP')),
      lines: at,
    },
    {
      name: 'are absent for a load balancer with a hostname',
      objects: service(port(443, 'https'), 'hostname: lb.example.net'),
      lines: 'web.a.test 60 CNAME lb.example.net.',
    },
    {
      name: 'are absent where names point to endpoints, which have other ports',
      objects: `${service(port(443, 'https'), 'ip: 203.0.113.5', "k8s-gateway.dns/resolve-endpoints: 'true'")}
- kind: EndpointSlice
  metadata: { name: web-1, namespace: shop, labels: { kubernetes.io/service-name: web } }
  endpoints: [{ addresses: [198.51.100.1] }]`,
      lines: 'web.a.test 60 A 198.51.100.1',
    },
  ]
  for (const { name, objects, lines } of cases) {
    test(name, () => assert.deepEqual(linesIn(groupsOf(objects)), linesOf(lines)))
  }

  test('are absent without the option', () => {
    assert.deepEqual(linesIn(groupsOf(service(port(443, 'https')), false)), [at])
  })

  test('that are too long for a name are warned of, and all others stay', () => {
    const long = `${'a'.repeat(60)}.`.repeat(4).slice(0, -3)
    const groups = groupsOf(
      gateway(listener('a', 8443)) + route(`${long}`) + route('web.a.test', '', 'b'),
    )
    assert.match(groups.warnings().join(), /"_8443\._https\.a.*" is not a hostname/)
    assert.equal(linesIn(groups).filter((line) => line.includes('_8443')).length, 1)
  })
})

describe('a conflict', () => {
  test('is reported for the hostname, not for the names of its bindings', () => {
    const groups = groupsOf(
      gateway(listener('a', 8443)) +
        route('web.a.test') +
        route('web.a.test').replace('namespace: shop', 'namespace: blog'),
    )
    linesIn(groups)
    assert.deepEqual(
      groups.conflicts.map(({ host }) => host),
      ['web.a.test'],
    )
  })
})

describe('bad input has a warning, and the names of other objects stay:', () => {
  const cases: { name: string; object: string; warning: RegExp }[] = [
    {
      name: 'a port that is none',
      object: gateway(listener('all', 70_000)),
      warning: /^Gateway infra\/public: spec\.listeners\[0\]\.port is 70000, expected a port/m,
    },
    {
      name: 'a listener whose hostname is no hostname',
      object: gateway(listener('all', 443, 'a..b')),
      warning: /^Gateway infra\/public: "a\.\.b" is not a hostname$/m,
    },
    {
      name: 'an appProtocol that is no text',
      object: service('{ port: 443, appProtocol: [https] }'),
      warning: /^Service shop\/web: spec\.ports\[0\]\.appProtocol is a list, expected text$/m,
    },
    {
      name: 'a hostname whose prefixed name is too long',
      object:
        gateway(listener('a', 8443)) +
        route(`${'a'.repeat(60)}.`.repeat(4).slice(0, -3), '', 'long'),
      warning: /^HTTPRoute shop\/long: "_8443\._https\.a.*" is not a hostname$/m,
    },
  ]
  const other = `
- kind: Ingress
  metadata: { name: other, namespace: shop }
  spec: { rules: [{ host: other.a.test }] }
  status: { loadBalancer: { ingress: [{ ip: 203.0.113.1 }] } }`
  for (const { name, object, warning } of cases) {
    test(name, () => {
      const warnings: string[] = []
      const groups = new HostGroups(hostsTree({ resources: SOURCES, hasBindings: true }))
      for (const value of valuesOf(`${object}${other}`)) {
        const parsed = parseObject(value)
        if (parsed?.kind === 'problem') warnings.push(parsed.message)
        else if (parsed !== undefined) groups.set(parsed)
      }
      const lines = linesIn(groups)
      assert.match([...warnings, ...groups.warnings()].join('\n'), warning)
      assert.ok(lines.includes('other.a.test 60 A 203.0.113.1'), lines.join('\n'))
    })
  }
})
