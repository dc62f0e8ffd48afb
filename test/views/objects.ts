/**
 * Small clusters in which everything collides: addresses, names, and the DNS server's own address.
 * @module
 */
import type { ApiObject } from '../../bench/cluster-objects.ts'
import { pickFrom, type Random, someFrom } from './random.ts'

/** Namespaces of the clusters; which of them are there is drawn. */
export const NAMESPACES: readonly string[] = ['shop', 'blog', 'secret', 'kube-system', 'core']
/** Names of Services. */
export const SERVICES: readonly string[] = ['web', 'db', 'api', 'dns']
/** Addresses of cluster IPs, endpoints and Pods alike. */
export const ADDRESSES: readonly string[] = [
  ...Array.from({ length: 8 }, (_, i) => `10.96.0.${i + 1}`),
  '2001:db8::1',
  '2001:db8::2',
]
/** Host names of endpoints. */
export const HOSTS: readonly string[] = ['a-0', 'a-1']
/** Hostnames of Ingresses, which several namespaces claim. */
export const INGRESS_HOSTS: readonly string[] = [
  ...['www.apps.test', '*.apps.test', 'apps.test', 'api'],
  ...['deep.in.apps.test', '*.in.apps.test'],
]
/** The server's own addresses, for exporters. */
export const LOCAL_ADDRESSES: readonly string[] = ['10.96.0.1', '2001:db8::1']

const VERSIONS: Readonly<Record<string, string>> = {
  DNSEndpoint: 'externaldns.k8s.io/v1alpha1',
  EndpointSlice: 'discovery.k8s.io/v1',
  Ingress: 'networking.k8s.io/v1',
  ServiceImport: 'multicluster.x-k8s.io/v1alpha1',
  ServiceExport: 'multicluster.x-k8s.io/v1alpha1',
}
const PORTS = [{ name: 'http', port: 80, protocol: 'TCP' }]

/** The namespace of an object, its own name if it is one. */
export function namespaceOf({ kind, metadata }: ApiObject): string {
  const { name, namespace } = metadata as Readonly<Record<string, string>>
  return (kind === 'Namespace' ? name : namespace) ?? ''
}

/** Draws the objects of a cluster. */
export function clusterObjects(random: Random, cluster: string): ApiObject[] {
  const names = NAMESPACES.filter((name) => name === 'secret' || random() < 0.8)
  return names.flatMap((namespace) => {
    const labels = { team: pickFrom(random, ['a', 'b']), tier: pickFrom(random, ['x', 'y']) }
    const services = SERVICES.filter(() => random() < 0.6)
    const pods = someFrom(random, ADDRESSES, 3)
    return [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } },
      ...services.flatMap((name) => serviceObjects(random, { name, namespace, cluster })),
      ...INGRESS_HOSTS.filter(() => random() < 0.5).map((host, i) =>
        ingressObject(random, { name: `web-${i}`, namespace }, host),
      ),
      ...INGRESS_HOSTS.filter(() => random() < 0.2).map((host, i) =>
        endpointObject(random, { name: `dns-${i}`, namespace }, host),
      ),
      ...pods.map((podIP, i) => object('Pod', { name: `pod-${i}`, namespace }, podOf(podIP))),
    ]
  })
}

type Metadata = { readonly name: string; readonly namespace: string }

/** A DNSEndpoint, whose wildcards reach further than those of an Ingress. */
function endpointObject(random: Random, metadata: Metadata, host: string): ApiObject {
  const dnsName = pickFrom(
    random,
    [host, `x.${host}`].filter((one) => !one.startsWith('x.*')),
  )
  const records = pickFrom(random, [
    { recordType: 'A', targets: [pickFrom(random, ADDRESSES.slice(0, 8))] },
    { recordType: 'CNAME', targets: [pickFrom(random, ['www.apps.test', 'db.hosts.test'])] },
  ])
  return object('DNSEndpoint', metadata, { spec: { endpoints: [{ dnsName, ...records }] } })
}

function podOf(podIP: string): Readonly<Record<string, unknown>> {
  return { status: { phase: 'Running', podIP, podIPs: [{ ip: podIP }] } }
}

function ingressObject(random: Random, metadata: Metadata, host: string): ApiObject {
  const creationTimestamp = `2026-01-01T00:00:0${pickFrom(random, [1, 2, 3])}Z`
  const ingress = someFrom(random, ADDRESSES, 2).map((ip) => ({ ip }))
  const made = object('Ingress', metadata, {
    spec: { rules: [{ host }] },
    status: { loadBalancer: { ingress } },
  })
  return { ...made, metadata: { ...metadata, creationTimestamp, resourceVersion: '1' } }
}

type Place = { readonly name: string; readonly namespace: string; readonly cluster: string }

function serviceObjects(random: Random, { name, namespace, cluster }: Place): ApiObject[] {
  const own = { name, namespace }
  const ip = pickFrom(random, ADDRESSES)
  const target = `${pickFrom(random, SERVICES)}.${pickFrom(random, NAMESPACES)}.svc.cluster.local`
  const spec = pickFrom<Readonly<Record<string, unknown>> | null>(random, [
    { clusterIP: ip, clusterIPs: [ip], ports: PORTS },
    { clusterIP: ip, clusterIPs: [ip], ports: PORTS },
    { clusterIP: 'None', ports: PORTS },
    { clusterIP: 'None', ports: PORTS },
    { type: 'ExternalName', externalName: target },
    null,
  ])
  const isBalanced = random() < 0.4
  const status = { loadBalancer: { ingress: [{ ip: pickFrom(random, ADDRESSES) }] } }
  const outside = { spec: { ...spec, type: 'LoadBalancer' }, status }
  const isImported = random() < 0.3
  const importSpec = pickFrom(random, [
    { type: 'ClusterSetIP', ips: [ip], ports: PORTS },
    { type: 'Headless', ports: PORTS },
  ])
  const key = isImported ? 'multicluster.kubernetes.io/service-name' : 'kubernetes.io/service-name'
  const labels = {
    [key]: name,
    ...(isImported && { 'multicluster.kubernetes.io/source-cluster': cluster }),
  }
  const endpoints = someFrom(random, ADDRESSES, 3).map((address) => ({
    addresses: [address],
    conditions: { ready: random() < 0.9 },
    ...(random() < 0.5 && { hostname: pickFrom(random, HOSTS) }),
  }))
  const slice = { addressType: 'IPv4', endpoints, ports: PORTS }
  return [
    ...(spec === null ? [] : [object('Service', own, isBalanced ? outside : { spec })]),
    {
      ...object('EndpointSlice', { name: `${name}-1`, namespace }, slice),
      metadata: { name: `${name}-1`, namespace, labels },
    },
    ...(isImported ? [object('ServiceImport', own, { spec: importSpec })] : []),
    ...(random() < 0.4 ? [object('ServiceExport', own, {})] : []),
  ]
}

function object(
  kind: string,
  metadata: { readonly name: string; readonly namespace: string },
  fields: Readonly<Record<string, unknown>>,
): ApiObject {
  return {
    apiVersion: VERSIONS[kind] ?? 'v1',
    kind,
    metadata: { ...metadata, resourceVersion: '1' },
    ...fields,
  }
}
