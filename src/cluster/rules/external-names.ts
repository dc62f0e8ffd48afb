/**
 * External names of Services, `<service>.<ns>`, as in CoreDNS's `k8s_external`
 * (plugin/kubernetes/external.go): they point to load balancers and `externalIPs`.
 *
 * | Service | `<service>.<ns>` | below it |
 * |---|---|---|
 * | with external addresses | these; hostnames as CNAME | its ports; `*`, for any label |
 * | headless, without, with the option `headless` | its ready endpoints | ports, endpoints |
 * | any other, without, with the option `headless` | nothing | its ready endpoints |
 *
 * The addresses of the zone's name server are at the apex.
 * @module
 */

import type { ExternalTree } from '../../corefile/cluster-tree.ts'
import { concatBytes, EMPTY, toLatin1 } from '../../dns/bytes/bytes.ts'
import { parseAddress } from '../../dns/names/address.ts'
import { parseName } from '../../dns/names/name.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import type { Pointer, Rdata, RRset, ZoneEntry } from '../../snapshot/records/zone-entry.ts'
import { type Cluster, objectKey } from '../objects/cluster.ts'
import { joinLabels, labelOf, WILDCARD } from '../objects/labels.ts'
import type { EndpointSlice, Service } from '../objects/objects.ts'
import type { NamingOptions } from '../objects/options.ts'
import {
  type Backend,
  backendRecords,
  backendsOf,
  type Place,
  type RecordsOf,
  serviceNumbers,
  shareOf,
} from './backend-records.ts'
import { endpointNames } from './endpoint-names.ts'
import { endpointBackends } from './named-slices.ts'
import { servingSlices } from './nameserver-names.ts'
import { fitting } from './pairs.ts'
import { portNames } from './port-names.ts'

/** Returns the names of a Service. */
export function externalNames(
  service: Service,
  slices: readonly EndpointSlice[],
  options: NamingOptions & { readonly tree: ExternalTree },
): ZoneEntry[] {
  const owner = externalOwner(service)
  if (owner === undefined) return []
  const { ttlSeconds, hasEndpoints } = options.tree
  const place: Place = { owner, namespace: service.namespace, ttlSeconds }
  const recordsOf = recordsWith(options.ttlSeconds)
  const hosts = externalHosts(service)
  if (hosts.length > 0) {
    const ports = fitting(service.ports, hosts.length)
    const backends = hosts.flatMap((host) => backendsOf(host, owner, ports))
    const anything = joinLabels(WILDCARD, owner) ?? owner
    return [
      ...recordsOf(place, backends),
      { kind: 'name', owner: anything, namespace: service.namespace },
      ...portNames(place, backends, recordsOf),
    ]
  }
  if (!hasEndpoints || !options.hasEndpoints) return []
  const endpoints = endpointBackends(owner, slices, options.usesPodNames)
  const names = endpointNames(place, endpoints, recordsOf)
  if (!service.isHeadless) return names
  return [...recordsOf(place, endpoints), ...portNames(place, endpoints, recordsOf), ...names]
}

/** Returns the pointers of a Service's external addresses. */
export function externalPointers(
  service: Service,
  { ttlSeconds }: ExternalTree,
  isWanted: (address: Uint8Array) => boolean = () => true,
): Pointer[] {
  const target = externalOwner(service)
  return externalHosts(service).flatMap((host): Pointer[] => {
    const address = parseAddress(host)
    if (address === undefined || target === undefined || !isWanted(address)) return []
    return [{ kind: 'pointer', address, namespace: service.namespace, ttlSeconds, target }]
  })
}

/** Returns the name of a namespace. */
export function externalNamespace(namespace: string): ZoneEntry[] {
  const owner = labelOf(namespace)
  return owner === undefined ? [] : [{ kind: 'name', owner, namespace }]
}

/**
 * Returns the addresses of the zone's name server: the external addresses of the Services whose
 * endpoints have the server's own addresses; if there is no such Service, its own addresses.
 */
export function externalNameserver(
  cluster: Cluster,
  options: NamingOptions & { readonly tree: ExternalTree },
): ZoneEntry[] {
  const { ttlSeconds } = options.tree
  const slices = servingSlices(cluster, options)
  const hosts = slices?.flatMap((slice) => {
    const key = objectKey({ namespace: slice.namespace, name: slice.serviceName })
    const service = cluster.services.get(key)
    if (service === undefined) return []
    if (!options.tree.hasEndpoints || !service.isHeadless) return externalHosts(service)
    const ready = slice.endpoints.unpack().filter(({ isReady }) => isReady)
    return ready.flatMap(({ addresses }) => addresses)
  })
  const own = hosts ?? options.localAddresses
  const addresses = own.filter((host) => parseAddress(host) !== undefined)
  const backends = addresses.flatMap((host) => backendsOf(host, EMPTY, []))
  const place: Place = { owner: EMPTY, namespace: '', ttlSeconds }
  return [{ kind: 'name', owner: EMPTY, namespace: '' }, ...backendRecords(place, backends)]
}

/** Returns the external name of a Service; `undefined` if DNS cannot express it. */
export function externalOwner({ name, namespace }: Service): Uint8Array | undefined {
  return joinLabels(labelOf(name), labelOf(namespace))
}

/** Lists the addresses and hostnames of a Service outside of the cluster. */
export function externalHosts({ outside }: Service): readonly string[] {
  if (outside === undefined) return []
  const hosts = outside.ingress.map(({ ip, hostname }) => ip || hostname)
  return [...outside.externalIPs, ...hosts].filter((host) => host !== '')
}

/**
 * Returns the cluster IPs that clients inside may use in place of the external addresses; none if
 * the load balancer must not be left out: it may add a PROXY header, or end TLS (KEP-1860).
 */
export function insideAddresses({ clusterIPs, outside }: Service): readonly string[] {
  return outside?.isProxied === true ? [] : clusterIPs
}

/** SRV and CNAME records have the TTL of the cluster's own names, as in CoreDNS. */
function recordsWith(ttlSeconds: number): RecordsOf {
  return (place, backends) => {
    const sets = backendRecords(place, backends).filter(({ type }) => type !== TYPE.SRV)
    const own = sets.map((set) => (set.type === TYPE.CNAME ? { ...set, ttlSeconds } : set))
    const rdata = serviceRdata(backends)
    if (rdata.length === 0) return own
    const services: RRset = { kind: 'records', ...place, type: TYPE.SRV, ttlSeconds, rdata }
    return [...own, services]
  }
}

/** Returns SRV records. Unlike in the cluster's own zone, their targets may be hostnames. */
function serviceRdata(backends: readonly Backend[]): Rdata[] {
  const weight = shareOf(backends.length)
  const unique = new Map<string, Rdata>()
  for (const { host, address, target, port } of backends) {
    if (port?.port === undefined) continue
    const bytes = serviceNumbers(0, weight, port.port)
    if (address !== undefined) unique.set(`${port.port}${toLatin1(target)}`, { bytes, target })
    else {
      const name = parseName(host)
      if (name === undefined) continue
      unique.set(`${port.port} ${toLatin1(name)}`, { bytes: concatBytes(bytes, name) })
    }
  }
  return [...unique.values()]
}
