/**
 * What CoreDNS's integration tests (github.com/coredns/ci, test/cluster) create: objects and
 * zones, transcribed. `coredns-cases.ts` has what they ask.
 * @module
 */
import type { ApiObject } from '../real-cluster/api-server.ts'
import { namespace, service, slice } from '../real-cluster/objects.ts'

const SOA = 'IN SOA ns.example.org. admin.example.org. 1 7200 3600 1209600 3600'
/** Names outside of the cluster: the zone of their upstream. */
export const OUTSIDE: string = `example.net. ${SOA}
example.net. IN A 13.14.15.16
`
/** A zone with the name of the cluster's, for fallthrough. */
export const CLUSTER_ZONE: string = `cluster.local. ${SOA}
cluster.local. IN NS ns1.example.org.
cluster.local. IN NS ns2.example.org.
foo.cluster.local. IN A 10.10.10.10
f.b.svc.cluster.local. IN A 10.10.10.11
`
/** A zone of the Internet, which autopath finds last. */
export const EXAMPLE_ZONE: string = `example.net. ${SOA}
example.net. IN NS ns.example.net.
foo.example.net. IN A 10.10.10.11
`
/** Address of the server, by which it knows its own Service. */
export const SERVER_ADDRESS = '172.17.0.53'

const PORTS = {
  web: [
    { name: 'http', port: 80, protocol: 'TCP' },
    { name: 'https', port: 443, protocol: 'TCP' },
  ],
  http: [{ name: 'http', port: 80, protocol: 'TCP' }],
  c: [{ name: 'c-port', port: 1234, protocol: 'UDP' }],
}
const LONG_NAME = 'test-name-longer-than-63-characters-making-it-an-invalid-dns-label'

/** The objects, all of which exist before the server starts. */
export const OBJECTS: readonly ApiObject[] = [
  ...['test-1', 'test-2', 'test-3', 'test-4', 'test-5'].map(namespace),
  service('kube-system/kube-dns', { clusterIP: '10.96.0.10', ports: PORTS.c }),
  endpoints('kube-system/kube-dns', { [SERVER_ADDRESS]: '' }, PORTS.c),
  ...selected('test-1', { a: '10.96.0.100', b: '10.96.0.110', c: '10.96.0.115' }),
  endpoints('test-1/svc-1-a', { '172.17.0.253': 'svc-1-a' }, PORTS.web),
  ...headless('test-1', [255, 254], [1, 2]),
  service('test-2/svc-c', { clusterIP: '10.96.0.120', ports: PORTS.c }),
  service('test-2/svc-d', { clusterIP: '10.96.0.121', ports: PORTS.c }),
  endpoints('test-2/svc-d', { '172.17.0.252': 'svc-d' }, PORTS.c),
  external('test-2/upriver', 'up.river.local'),
  ...podNames('test-3', ['172.17.0.66', '172.17.0.67']),
  ...selected('test-4', { a: '10.96.0.200', b: '10.96.0.210', c: '10.96.0.215' }),
  endpoints('test-4/svc-1-a', { '172.17.0.251': '' }, PORTS.web),
  ...headless('test-4', [250, 249], [3, 4]),
  ...podNames('test-5', ['172.17.0.166', '172.17.0.167']),
]

/** Objects that are created while the server runs. */
export const NEW_OBJECTS: readonly ApiObject[] = [
  service('test-1/new-svc', { clusterIP: '10.96.0.222', ports: PORTS.http }),
  endpoints('test-1/new-svc', { '172.17.0.222': '' }, PORTS.http),
]

/**
 * Services of a namespace that differ in their addresses only, with one that has no ready
 * endpoint.
 */
function selected(
  name: string,
  { a, b, c }: { readonly a: string; readonly b: string; readonly c: string },
): ApiObject[] {
  return [
    service(`${name}/svc-1-a`, { clusterIP: a, ports: PORTS.web }),
    service(`${name}/svc-1-b`, { clusterIP: b, ports: PORTS.http }),
    service(`${name}/svc-c`, { clusterIP: c, ports: PORTS.c }),
    service(`${name}/svc-unready`, { clusterIP: 'None', ports: PORTS.c }),
    external(`${name}/ext-svc`, 'example.net'),
  ]
}

/**
 * A headless Service with two endpoints of each family, in slices as the mirroring controller
 * has.
 */
function headless(
  name: string,
  [first, second]: readonly [number, number],
  [third, fourth]: readonly [number, number],
): ApiObject[] {
  const four = { [`172.17.0.${first}`]: 'headless-svc-1', [`172.17.0.${second}`]: 'headless-svc-2' }
  const six = {
    [`1234:abcd::${third}`]: 'headless-svc-3',
    [`1234:abcd::${fourth}`]: 'headless-svc-4',
  }
  return [
    service(`${name}/headless-svc`, { clusterIP: 'None', ports: PORTS.c }),
    endpoints(`${name}/headless-svc`, four, PORTS.c),
    endpoints(`${name}/headless-svc`, six, PORTS.c, 'IPv6'),
  ]
}

/** Headless Services with a pod each, of which one has a name that is longer than a label. */
function podNames(name: string, addresses: readonly [string, string]): ApiObject[] {
  return addresses.flatMap((address, i) => [
    service(`${name}/headless-${i + 1}`, { clusterIP: 'None', ports: PORTS.http }),
    endpoints(`${name}/headless-${i + 1}`, { [address]: '' }, PORTS.http, 'IPv4', [
      i === 0 ? 'test-name' : LONG_NAME,
    ]),
  ])
}

/** A slice of a Service with the hostnames of its addresses, and the names of their pods. */
function endpoints(
  path: string,
  addresses: Readonly<Record<string, string>>,
  ports: readonly unknown[],
  addressType = 'IPv4',
  pods: readonly string[] = [],
): ApiObject {
  const [, name = ''] = path.split('/')
  const list = Object.entries(addresses).map(([address, hostname], i) => ({
    addresses: [address],
    ...(hostname !== '' && { hostname }),
    ...(pods[i] !== undefined && { targetRef: { kind: 'Pod', name: pods[i] } }),
  }))
  return slice(`${path}-${addressType.toLowerCase()}`, name, list, { ports, addressType })
}

function external(path: string, externalName: string): ApiObject {
  return service(path, { type: 'ExternalName', externalName, ports: PORTS.c })
}
