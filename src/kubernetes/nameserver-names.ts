/**
 * The zone's name servers: NS records at the apex, and `ns.dns`, which the SOA record names.
 *
 * They are the Services that have one of the server's own addresses among their endpoints; without
 * such a Service, `ns.dns` with the server's own addresses (CoreDNS's `kubernetes` plugin, ns.go).
 * @module
 */
import { parseAddress } from '../dns/address.ts'
import { EMPTY, toLatin1 } from '../dns/bytes.ts'
import { TYPE } from '../dns/rr-type.ts'
import type { RecordSet } from '../records/zone-entry.ts'
import { type Backend, backendRecords, backendsOf } from './backend-records.ts'
import { type Cluster, objectKey } from './cluster.ts'
import { joinLabels, labelOf, serviceOwner } from './labels.ts'
import { endpointBackends } from './named-slices.ts'
import type { EndpointSlice } from './objects.ts'
import type { NamingOptions } from './options.ts'

/** The relative name of the primary name server. */
export const NS_DNS: Uint8Array = joinLabels(labelOf('ns'), labelOf('dns')) ?? EMPTY

/** Makes the NS set of the apex and the addresses of `ns.dns`. */
export function nameserverNames(cluster: Cluster, options: NamingOptions): RecordSet[] {
  const { ttlSeconds } = options
  const found = servingBackends(cluster, options)
  const backends = found ?? localBackends(options)
  const targets = found === undefined ? [NS_DNS] : backends.map(({ target }) => target)
  const unique = new Map(targets.map((target) => [toLatin1(target), target]))
  const addresses = backendRecords({ owner: NS_DNS, scope: '', ttlSeconds }, backends)
  const rdata = [...unique.values()].map((target) => ({ bytes: EMPTY, target }))
  if (rdata.length === 0) return addresses
  return [
    { kind: 'records', owner: EMPTY, scope: '', type: TYPE.NS, ttlSeconds, rdata },
    ...addresses,
    ...backends.flatMap((backend) => glue(backend, ttlSeconds)),
  ]
}

/** Addresses of name servers go along with NS records, also when their namespace is not served. */
function glue(backend: Backend, ttlSeconds: number): RecordSet[] {
  const place = { owner: backend.target, scope: '', ttlSeconds }
  return backendRecords(place, [backend]).map((set) => ({ ...set, isGlue: true }))
}

function localBackends({ localAddresses }: NamingOptions): Backend[] {
  return localAddresses
    .filter((text) => parseAddress(text) !== undefined)
    .flatMap((host) => backendsOf(host, NS_DNS, []))
}

/**
 * Backends of the Services behind the server's addresses, without ports, as these have no part in a
 * name server's names; `undefined` when no slice has one.
 */
function servingBackends(cluster: Cluster, options: NamingOptions): Backend[] | undefined {
  return servingSlices(cluster, options)?.flatMap((slice) => {
    const key = objectKey({ namespace: slice.namespace, name: slice.serviceName })
    const service = cluster.services.get(key)
    const owner = service && serviceOwner(service)
    if (service === undefined || owner === undefined) return []
    if (service.isHeadless) {
      return endpointBackends(owner, [{ ...slice, ports: [] }], options.usesPodNames)
    }
    return service.clusterIPs.flatMap((host) => backendsOf(host, owner, []))
  })
}

/**
 * Finds the slices that have one of the server's own addresses, in an order that is not that of
 * events; `undefined` when there is none.
 */
export function servingSlices(
  cluster: Cluster,
  { localAddresses, hasEndpoints }: NamingOptions,
): readonly EndpointSlice[] | undefined {
  const local = new Set(localAddresses.filter((text) => parseAddress(text) !== undefined))
  if (local.size === 0 || !hasEndpoints) return undefined
  const slices = [...cluster.slices.values()].filter(({ endpoints }) =>
    endpoints.some(({ isReady, addresses }) => isReady && addresses.some((a) => local.has(a))),
  )
  if (slices.length === 0) return undefined
  return slices.sort((a, b) => (objectKey(a) < objectKey(b) ? -1 : 1))
}
