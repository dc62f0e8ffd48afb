/**
 * Names by which Services are found from outside, `<service>.<ns>`, as CoreDNS's `k8s_external` has
 * them (plugin/kubernetes/external.go): they lead to what load balancers and `externalIPs` say.
 *
 * | Service | `<service>.<ns>` | below it |
 * |---|---|---|
 * | with addresses outside | these; host names as CNAME | its ports; `*`, for any label |
 * | headless, without, if endpoints are wanted | its ready endpoints | ports, endpoints |
 * | any other, without, if endpoints are wanted | nothing | its ready endpoints |
 *
 * The addresses of the zones' name server stand at the apex.
 * @module
 */

import { concatBytes, EMPTY, toLatin1 } from '../../bytes/bytes.ts'
import { parseAddress } from '../../dns/address.ts'
import { parseName } from '../../dns/name.ts'
import { TYPE } from '../../dns/rr-type.ts'
import type { Pointer, Rdata, RRset, ZoneEntry } from '../../records/zone-entry.ts'
import { type Cluster, objectKey } from '../objects/cluster.ts'
import { joinLabels, labelOf, WILDCARD } from '../objects/labels.ts'
import type { EndpointSlice, Service } from '../objects/objects.ts'
import type { NamingOptions, Tree } from '../objects/options.ts'
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
import { portNames } from './port-names.ts'

/** The tree that these names are of. */
export type ExternalTree = Extract<Tree, { kind: 'external' }>

/** Makes the names of a Service. */
export function outsideNames(
  service: Service,
  slices: readonly EndpointSlice[],
  options: NamingOptions & { readonly tree: ExternalTree },
): ZoneEntry[] {
  const owner = outsideOwner(service)
  if (owner === undefined) return []
  const { ttlSeconds, hasEndpoints } = options.tree
  const place: Place = { owner, namespace: service.namespace, ttlSeconds }
  const recordsOf = recordsWith(options.ttlSeconds)
  const hosts = outsideHosts(service)
  if (hosts.length > 0) {
    const backends = hosts.flatMap((host) => backendsOf(host, owner, service.ports))
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

/** Makes the pointers of a Service's addresses outside. */
export function outsidePointers(
  service: Service,
  { ttlSeconds }: ExternalTree,
  isWanted: (address: Uint8Array) => boolean = () => true,
): Pointer[] {
  const target = outsideOwner(service)
  return outsideHosts(service).flatMap((host): Pointer[] => {
    const address = parseAddress(host)
    if (address === undefined || target === undefined || !isWanted(address)) return []
    return [{ kind: 'pointer', address, namespace: service.namespace, ttlSeconds, target }]
  })
}

/** Makes the name of a namespace. */
export function outsideNamespace(namespace: string): ZoneEntry[] {
  const owner = labelOf(namespace)
  return owner === undefined ? [] : [{ kind: 'name', owner, namespace }]
}

/**
 * Makes the addresses of the zones' name server: those outside of the Services behind the server's
 * own addresses; without such a Service, its own.
 */
export function outsideNameserver(
  cluster: Cluster,
  options: NamingOptions & { readonly tree: ExternalTree },
): ZoneEntry[] {
  const { ttlSeconds } = options.tree
  const slices = servingSlices(cluster, options)
  const hosts = slices?.flatMap((slice) => {
    const key = objectKey({ namespace: slice.namespace, name: slice.serviceName })
    const service = cluster.services.get(key)
    if (service === undefined) return []
    if (!options.tree.hasEndpoints || !service.isHeadless) return outsideHosts(service)
    const ready = slice.endpoints.filter(({ isReady }) => isReady)
    return ready.flatMap(({ addresses }) => addresses)
  })
  const own = hosts ?? options.localAddresses
  const addresses = own.filter((host) => parseAddress(host) !== undefined)
  const backends = addresses.flatMap((host) => backendsOf(host, EMPTY, []))
  const place: Place = { owner: EMPTY, namespace: '', ttlSeconds }
  return [{ kind: 'name', owner: EMPTY, namespace: '' }, ...backendRecords(place, backends)]
}

/** Finds the name of a Service; `undefined` when it cannot be one. */
export function outsideOwner({ name, namespace }: Service): Uint8Array | undefined {
  return joinLabels(labelOf(name), labelOf(namespace))
}

/** Lists the addresses and host names that a Service has outside. */
export function outsideHosts({ outside }: Service): readonly string[] {
  if (outside === undefined) return []
  const hosts = outside.ingress.map(({ ip, hostname }) => ip || hostname)
  return [...outside.externalIPs, ...hosts].filter((host) => host !== '')
}

/** SRV records and aliases have the TTL of the cluster's own names, as in CoreDNS. */
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

/** Unlike in the cluster's own zone, SRV records lead to host names as well. */
function serviceRdata(backends: readonly Backend[]): Rdata[] {
  const weight = shareOf(backends.length)
  const unique = new Map<string, Rdata>()
  for (const { host, address, target, port } of backends) {
    if (port?.port === undefined) continue
    const bytes = serviceNumbers({ priority: 0, weight, port: port.port })
    if (address !== undefined) unique.set(`${port.port}${toLatin1(target)}`, { bytes, target })
    else {
      const name = parseName(host)
      if (name === undefined) continue
      unique.set(`${port.port} ${toLatin1(name)}`, { bytes: concatBytes(bytes, name) })
    }
  }
  return [...unique.values()]
}
