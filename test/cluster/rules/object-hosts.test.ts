import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { ClusterObject, EndpointSlice, Service } from '../../../src/cluster/objects/objects.ts'
import { type HostContext, hostsOf, type Naming } from '../../../src/cluster/rules/object-hosts.ts'
import { HostGroups } from '../../../src/cluster/trees/host-groups.ts'
import { formatHosts, hostsTree, linesOf, objectsOf } from '../naming.ts'

const CONTEXT: HostContext = {
  tree: hostsTree(),
  slicesOf: () => [],
  gatewayOf: () => undefined,
  serviceOf: () => undefined,
  nodes: () => [],
}

function namesOf(object: Naming): string[] {
  return hostsOf(object, CONTEXT).map(({ name }) => name)
}

function serviceOf(metadata: string, spec = 'type: LoadBalancer', status = ''): Service {
  const [object] = objectsOf(
    `[{ kind: Service, metadata: { name: web, namespace: shop, ${metadata} }, spec: { ${spec} },
      status: { ${status} } }]`,
  )
  assert.ok(object?.kind === 'Service')
  return object
}

const annotated = (annotations: string): string => `annotations: { ${annotations} }`
const ALPHA = 'external-dns.alpha.kubernetes.io/hostname'
const BETA = 'external-dns.kubernetes.io/hostname'

describe('the hostnames of objects', () => {
  const services: { name: string; metadata: string; spec?: string; names: readonly string[] }[] = [
    { name: 'those of a balanced Service', metadata: '', names: ['web.shop'] },
    { name: 'none of another Service', metadata: '', spec: 'externalIPs: [192.0.2.1]', names: [] },
    {
      name: 'those of a Service that asks for its endpoints',
      metadata: annotated("k8s-gateway.dns/resolve-endpoints: 'true'"),
      spec: 'clusterIP: None',
      names: ['web.shop'],
    },
    {
      name: 'those of an annotation in their place, in lower case',
      metadata: annotated(`${ALPHA}: 'A.test, *.b.test'`),
      names: ['a.test', '*.b.test'],
    },
    {
      name: 'those of the annotation that external-dns has since 0.22',
      metadata: annotated(`${BETA}: a.test`),
      names: ['a.test'],
    },
    {
      name: 'those of CoreDNS’s annotation before all others',
      metadata: annotated(`${BETA}: c.test, ${ALPHA}: b.test, coredns.io/hostname: a.test`),
      names: ['a.test'],
    },
    {
      name: 'none that is no hostname, nor the one that it would replace',
      metadata: annotated(`coredns.io/hostname: '-a.test,a_b.test,*,a..b'`),
      names: [],
    },
  ]
  for (const { name, metadata, spec, names } of services) {
    test(`lists ${name}`, () => {
      assert.deepEqual(namesOf(serviceOf(metadata, spec)), names)
    })
  }

  test('lists the hosts of Ingresses and the hostnames of Nodes', () => {
    const [ingress, node] = objectsOf(`
      - { kind: Ingress, metadata: { name: a, namespace: b }, spec: { rules: [{ host: A.test }] } }
      - { kind: Node, metadata: { name: n },
          status: { addresses: [{ type: Hostname, address: Node-1 }] } }`)
    assert.ok(ingress?.kind === 'Ingress' && node?.kind === 'Node')
    assert.deepEqual([namesOf(ingress), namesOf(node)], [['a.test'], ['node-1']])
  })
})

describe('the targets of a Service', () => {
  const slices = objectsOf(`
    - { kind: EndpointSlice, metadata: { name: web-1, namespace: shop },
        endpoints: [{ addresses: [198.51.100.1] },
          { addresses: [198.51.100.2], conditions: { ready: false } }] }`).filter(
    (object): object is EndpointSlice => object.kind === 'EndpointSlice',
  )
  const status = 'loadBalancer: { ingress: [{ ip: 203.0.113.1 }, { hostname: lb.test }] }'
  const cases: { name: string; service: Service; hosts: readonly string[] }[] = [
    {
      name: 'what the load balancer says',
      service: serviceOf('', 'type: LoadBalancer', status),
      hosts: ['203.0.113.1', 'lb.test'],
    },
    {
      name: 'what people say in its place',
      service: serviceOf('', 'type: LoadBalancer, externalIPs: [203.0.113.9]', status),
      hosts: ['203.0.113.9'],
    },
    {
      name: 'ready endpoints, where that is asked for',
      service: serviceOf(
        annotated("k8s-gateway.dns/resolve-endpoints: 'true'"),
        'type: LoadBalancer',
        status,
      ),
      hosts: ['198.51.100.1'],
    },
    {
      name: 'nothing of a Service inside',
      service: serviceOf('', 'clusterIP: 192.0.2.1'),
      hosts: [],
    },
  ]
  for (const { name, service, hosts } of cases) {
    test(`are ${name}`, () => {
      const [host] = hostsOf(service, { ...CONTEXT, slicesOf: () => slices })
      assert.deepEqual(host?.targets ?? [], hosts)
    })
  }
})

/** What a tree in the zone `example.org` makes of objects by their annotations. */
function published(objects: readonly ClusterObject[]): string[] {
  const groups = new HostGroups(
    hostsTree({
      zones: ['example.org'],
      resources: [
        ...hostsTree().resources,
        'Gateway',
        'TCPRoute',
        'UDPRoute',
        'Route',
        'ConfigMap',
      ],
      annotations: ['external-dns.alpha.kubernetes.io/', 'external-dns.kubernetes.io/', 'my.io/'],
    }),
  )
  for (const object of objects) groups.set(object)
  const lines = formatHosts(groups.takeChanged().flatMap((name) => groups.entriesOf(name)))
  return lines.filter((line) => !line.includes('.example.org.example.org '))
}

/** Metadata with annotations of external-dns. */
const noted = (name: string, ...annotations: readonly string[]): string =>
  `{ name: ${name}, namespace: shop, annotations: { ${annotations
    .map((one) => `external-dns.alpha.kubernetes.io/${one}`)
    .join(', ')} } }`
const balancer = (...at: readonly string[]): string =>
  `status: { loadBalancer: { ingress: [${at.map((one) => `{ ${one} }`).join(', ')}] } }`
const rules = (...hosts: readonly string[]): string =>
  `rules: [${hosts.map((host) => `{ host: ${host} }`).join(', ')}]`
const NODES = `
- { kind: Node, metadata: { name: a }, status: { addresses: [{ type: InternalIP, address: 10.0.0.1 },
    { type: ExternalIP, address: 203.0.113.1 }] } }
- { kind: Node, metadata: { name: b }, status: { addresses: [{ type: InternalIP, address: 10.0.0.2 }] } }`
const nodePort = (...annotations: readonly string[]): string =>
  `${NODES}
- { kind: Service, metadata: ${noted('web', 'hostname: web.example.org', ...annotations)},
    spec: { type: NodePort, clusterIP: 10.96.0.1, ports: [{ port: 80, nodePort: 30080 }] } }`

/** The behaviour that the documentation of external-dns's sources describes, kind by kind. */
describe('with the annotations of external-dns', () => {
  const cases: { name: string; objects: string; lines: string }[] = [
    {
      name: 'a balanced Service has the hostnames of the annotation, with its TTL',
      objects: `
- { kind: Service, metadata: ${noted('web', "hostname: 'Web.example.org,www.example.org.'", "ttl: '60'")},
    spec: { type: LoadBalancer }, ${balancer('ip: 203.0.113.1', 'hostname: lb.example.net')} }`,
      lines: `
        web.example.org 60 A 203.0.113.1
        web.example.org 60 CNAME lb.example.net.
        www.example.org 60 A 203.0.113.1
        www.example.org 60 CNAME lb.example.net.`,
    },
    {
      name: 'a TTL may be a duration, and a wrong one is that of the directive',
      objects: `
- { kind: Ingress, metadata: ${noted('a', 'ttl: 1h10m')}, spec: { ${rules('a.example.org')} },
    ${balancer('ip: 203.0.113.1')} }
- { kind: Ingress, metadata: ${noted('b', 'ttl: soon')}, spec: { ${rules('b.example.org')} },
    ${balancer('ip: 203.0.113.1')} }`,
      lines: `
        a.example.org 4200 A 203.0.113.1
        b.example.org 60 A 203.0.113.1`,
    },
    {
      name: 'targets replace those of the object',
      objects: `
- { kind: Ingress, metadata: ${noted('a', "target: '198.51.100.1,2001:db8::1'")},
    spec: { ${rules('a.example.org')} }, ${balancer('ip: 203.0.113.1')} }`,
      lines: `
        a.example.org 60 A 198.51.100.1
        a.example.org 60 AAAA 2001:db8::1`,
    },
    {
      name: 'an Ingress has hosts of its rules and of the annotation',
      objects: `
- { kind: Ingress, metadata: ${noted('a', 'hostname: more.example.org')},
    spec: { ${rules('a.example.org')} }, ${balancer('ip: 203.0.113.1')} }`,
      lines: `
        a.example.org 60 A 203.0.113.1
        more.example.org 60 A 203.0.113.1`,
    },
    {
      name: 'an Ingress has only those that its source annotation says',
      objects: `
- { kind: Ingress, metadata: ${noted('a', 'hostname: more.example.org', 'ingress-hostname-source: annotation-only')},
    spec: { ${rules('a.example.org')} }, ${balancer('ip: 203.0.113.1')} }
- { kind: Ingress, metadata: ${noted('b', 'hostname: other.example.org', 'ingress-hostname-source: defined-hosts-only')},
    spec: { ${rules('b.example.org')} }, ${balancer('ip: 203.0.113.1')} }`,
      lines: `
        b.example.org 60 A 203.0.113.1
        more.example.org 60 A 203.0.113.1`,
    },
    {
      name: 'an object of another controller has no names',
      objects: `
- { kind: Ingress, metadata: ${noted('a', 'controller: other')}, spec: { ${rules('a.example.org')} },
    ${balancer('ip: 203.0.113.1')} }
- { kind: Ingress, metadata: ${noted('b', 'controller: dns-controller')}, spec: { ${rules('b.example.org')} },
    ${balancer('ip: 203.0.113.1')} }`,
      lines: 'b.example.org 60 A 203.0.113.1',
    },
    {
      name: 'the cluster IP has the internal hostname',
      objects: `
- { kind: Service, metadata: ${noted('web', 'internal-hostname: in.example.org', 'hostname: web.example.org')},
    spec: { type: LoadBalancer, clusterIP: 10.96.0.1 }, ${balancer('ip: 203.0.113.1')} }
- { kind: Service, metadata: ${noted('api', 'internal-hostname: api.example.org')}, spec: { clusterIP: 10.96.0.2 } }`,
      lines: `
        api.example.org 60 A 10.96.0.2
        in.example.org 60 A 10.96.0.1
        web.example.org 60 A 203.0.113.1`,
    },
    {
      name: 'a headless Service has its ready endpoints, an ExternalName Service its name',
      objects: `
- { kind: Service, metadata: ${noted('db', 'hostname: db.example.org')}, spec: { clusterIP: None } }
- { kind: EndpointSlice, metadata: { name: db-1, namespace: shop, labels: { kubernetes.io/service-name: db } },
    endpoints: [{ addresses: [10.244.0.1] }, { addresses: [10.244.0.2], conditions: { ready: false } }] }
- { kind: Service, metadata: ${noted('ext', 'hostname: ext.example.org')},
    spec: { type: ExternalName, externalName: cdn.example.net } }`,
      lines: `
        db.example.org 60 A 10.244.0.1
        ext.example.org 60 CNAME cdn.example.net.`,
    },
    {
      name: 'a Service with a cluster IP has no name from outside',
      objects: `
- { kind: Service, metadata: ${noted('web', 'hostname: web.example.org')}, spec: { clusterIP: 10.96.0.1 } }`,
      lines: '',
    },
    {
      name: 'a NodePort Service has the outer addresses of Nodes, and SRV records',
      objects: nodePort(),
      lines: `
        web.example.org 60 A 203.0.113.1
        _web._tcp.web.example.org 60 SRV 0 50 30080 web.example.org.`,
    },
    {
      name: 'a NodePort Service has the inner addresses of Nodes if that is said',
      objects: nodePort('access: private'),
      lines: `
        web.example.org 60 A 10.0.0.1
        web.example.org 60 A 10.0.0.2
        _web._tcp.web.example.org 60 SRV 0 50 30080 web.example.org.`,
    },
    {
      name: 'a Gateway has its listeners, and its target is that of its routes',
      objects: `
- { kind: Gateway, metadata: ${noted('gw', 'target: 198.51.100.9')},
    spec: { gatewayClassName: x, listeners: [{ hostname: '*.gw.example.org' }, { name: all }] },
    status: { addresses: [{ value: 203.0.113.7 }] } }
- { kind: HTTPRoute, metadata: ${noted('r', 'hostname: b.example.org')},
    spec: { hostnames: [a.example.org], parentRefs: [{ name: gw }] } }
- { kind: TCPRoute, metadata: ${noted('t', 'hostname: t.example.org')}, spec: { parentRefs: [{ name: gw }] } }
- { kind: UDPRoute, metadata: ${noted('u', 'hostname: u.example.org')}, spec: { parentRefs: [{ name: gw }] } }`,
      lines: `
        *.gw.example.org 60 A 198.51.100.9
        a.example.org 60 A 198.51.100.9
        b.example.org 60 A 198.51.100.9
        t.example.org 60 A 198.51.100.9
        u.example.org 60 A 198.51.100.9`,
    },
    {
      name: 'an admitted Route points to its router',
      objects: `
- { kind: Route, metadata: ${noted('a')}, spec: { host: a.example.org }, status: { ingress: [
    { host: a.example.org, routerCanonicalHostname: router.example.net, conditions: [{ type: Admitted, status: 'True' }] }] } }
- { kind: Route, metadata: ${noted('b')}, spec: { host: b.example.org }, status: { ingress: [
    { host: b.example.org, routerCanonicalHostname: router.example.net, conditions: [{ type: Admitted, status: 'False' }] }] } }`,
      lines: 'a.example.org 60 CNAME router.example.net.',
    },
    {
      name: 'every known prefix counts, and those that are configured',
      objects: `
- { kind: Ingress, metadata: { name: a, namespace: shop, annotations: { external-dns.kubernetes.io/hostname: a.example.org,
    my.io/hostname: b.example.org, other.io/hostname: c.example.org } }, ${balancer('ip: 203.0.113.1')} }`,
      lines: `
        a.example.org 60 A 203.0.113.1
        b.example.org 60 A 203.0.113.1`,
    },
  ]
  for (const { name, objects, lines } of cases) {
    test(name, () => {
      assert.deepEqual(published(objectsOf(objects)), linesOf(lines))
    })
  }

  test('the addresses of Nodes follow the Nodes', () => {
    const groups = new HostGroups(
      hostsTree({ zones: ['example.org'], annotations: ['external-dns.alpha.kubernetes.io/'] }),
    )
    for (const object of objectsOf(nodePort())) groups.set(object)
    groups.takeChanged()
    groups.delete('Node', '', 'a')
    const changed = groups.takeChanged()
    assert.deepEqual(changed.includes('web.example.org'), true)
    assert.deepEqual(formatHosts(groups.entriesOf('web.example.org')), [
      'web.example.org 60 A 10.0.0.2',
    ])
  })
})
