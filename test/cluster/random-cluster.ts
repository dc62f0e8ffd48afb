/**
 * Random objects and options for property tests: few names, so that objects meet, and among them
 * some that the API would refuse.
 * @module
 */
import fc from 'fast-check'
import { Cluster } from '../../src/cluster/objects/cluster.ts'
import type { ClusterObject, Port } from '../../src/cluster/objects/objects.ts'
import type { NamingOptions, Tree } from '../../src/cluster/objects/options.ts'
import { PackedEndpoints } from '../../src/cluster/objects/packed-endpoints.ts'
import { nameOf } from '../../src/dns/names/name.ts'
import { optionsOf } from './naming.ts'

const namespace = fc.constantFrom('app', 'ops', 'Mixed', 'n'.repeat(63), 'a.b')
const name = fc.constantFrom('web', 'db', 'Mixed', 's'.repeat(63), 's'.repeat(64), 'a.b', '')
const host = fc.constantFrom(
  '192.0.2.1',
  '192.0.2.2',
  '198.51.100.1',
  '2001:db8::1',
  '2001:DB8::1',
  '2001:db8::',
  '192.0.2.256',
  'db.example.org',
  `${'h'.repeat(63)}.example.org`,
  'a..b',
  '',
)
const labels = fc.constant<ReadonlyMap<string, string>>(new Map())

const clusterLabels = fc.constantFrom<ReadonlyMap<string, string>>(
  new Map(),
  ...['a', 'b', 'a.b'].map((id) => new Map([['multicluster.kubernetes.io/source-cluster', id]])),
)

const port: fc.Arbitrary<Port> = fc.record({
  name: fc.constantFrom('', 'http', 'HTTP', 'p'.repeat(63), 'p'.repeat(64), 'a.b', 'a b'),
  protocol: fc.constantFrom('TCP', 'UDP', 'a.b', ''),
  port: fc.constantFrom(undefined, 1, 80, 65535),
})
const ports = fc.array(port, { maxLength: 3 })

const endpoint = fc.record({
  addresses: fc.array(host, { maxLength: 3 }),
  hostname: fc.constantFrom('', '', 'db-0', 'DB-0', 'a.b', 'h'.repeat(63)),
  targetName: fc.constantFrom('', 'pod-0', 'Pod.0', 'p'.repeat(64), 'a..b'),
  zone: fc.constantFrom('', 'eu-1a', 'corp.example.com', 'a..b'),
  isReady: fc.boolean(),
})

const outside = fc.record({
  createdMs: fc.constant(0),
  isLoadBalancer: fc.boolean(),
  externalIPs: fc.array(host, { maxLength: 2 }),
  ingress: fc.array(fc.record({ ip: host, hostname: host }), { maxLength: 2 }),
  hostnames: fc.constant(undefined),
  resolvesEndpoints: fc.boolean(),
  nodePorts: fc.constant(undefined),
  annotations: fc.constant(new Map<string, string>()),
  securePorts: fc.constant([]),
  isProxied: fc.boolean(),
})

/** Any object, as `parseObject` could give it. */
export const object: fc.Arbitrary<ClusterObject> = fc.oneof(
  fc.record({
    kind: fc.constant('Namespace' as const),
    namespace: fc.constant(''),
    name: namespace,
    labels,
  }),
  fc.record({
    kind: fc.constant('Service' as const),
    namespace,
    name,
    labels,
    type: fc.constantFrom('ClusterIP' as const, 'ClusterIP' as const, 'ExternalName' as const),
    isHeadless: fc.boolean(),
    clusterIPs: fc.array(host, { maxLength: 2 }),
    externalName: host,
    ports,
    outside: fc.option(outside, { nil: undefined }),
  }),
  fc.record({
    kind: fc.constant('ServiceImport' as const),
    namespace,
    name,
    labels,
    isHeadless: fc.boolean(),
    clusterIPs: fc.array(host, { maxLength: 2 }),
    ports,
  }),
  fc.record({ kind: fc.constant('ServiceExport' as const), namespace, name, labels }),
  fc.record({
    kind: fc.constant('EndpointSlice' as const),
    namespace,
    name: fc.constantFrom('s1', 's2', 's3'),
    labels: clusterLabels,
    serviceName: name,
    importName: name,
    endpoints: fc.array(endpoint, { maxLength: 4 }).map((all) => PackedEndpoints.from(all)),
    ports,
    triggeredMs: fc.constant(0),
  }),
  fc.record({
    kind: fc.constant('Pod' as const),
    namespace,
    name,
    labels,
    podIP: host,
    isGone: fc.boolean(),
  }),
)

/** Any objects, each once, as a watch leaves them. */
export const objects: fc.Arbitrary<ClusterObject[]> = fc.uniqueArray(object, {
  maxLength: 25,
  selector: ({ kind, namespace, name }) => `${kind} ${namespace}/${name}`,
})

/** Any options without selectors. */
export const options: fc.Arbitrary<NamingOptions> = fc
  .record({
    origins: fc.constantFrom(
      [nameOf('cluster.local')],
      [nameOf('cluster.local'), nameOf(`${'o'.repeat(63)}.${'o'.repeat(60)}.example.org`)],
    ),
    tree: fc.constantFrom<Tree>(
      { kind: 'cluster' },
      { kind: 'cluster' },
      { kind: 'multicluster' },
      { kind: 'exports', cluster: 'a' },
      { kind: 'external', ttlSeconds: 7, hasEndpoints: false },
      { kind: 'external', ttlSeconds: 7, hasEndpoints: true },
    ),
    scheme: fc.constantFrom('kubernetes' as const, 'kubernetes' as const, 'openshift3' as const),
    ttlSeconds: fc.constantFrom(0, 5, 3600),
    pods: fc.constantFrom('disabled' as const, 'insecure' as const, 'verified' as const),
    usesPodNames: fc.boolean(),
    hasEndpoints: fc.boolean(),
    isZonal: fc.boolean(),
    ignoresEmptyServices: fc.boolean(),
    namespaces: fc.constantFrom(new Set<string>(), new Set(['app', 'gone'])),
    localAddresses: fc.constantFrom([], ['192.0.2.1'], ['2001:db8::1', '203.0.113.1', 'x']),
  })
  .map((some) => optionsOf(some))

/** A cluster of objects, set in their order. */
export function clusterAfter(events: readonly ClusterObject[]): Cluster {
  const cluster = new Cluster()
  for (const event of events) cluster.set(event)
  return cluster
}
