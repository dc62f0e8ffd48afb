/**
 * The names of a ServiceImport, a Service of several clusters (MCS-API, KEP-1645 "DNS"), as in
 * CoreDNS's option `multicluster`.
 *
 * | ServiceImport | `<service>.<ns>.svc` | below it |
 * |---|---|---|
 * | ClusterSetIP | its addresses, if it has ports | ports, `<endpoint>.<cluster>` |
 * | Headless | addresses of its ready endpoints; NXDOMAIN without one | the same |
 * @module
 */
import type { ZoneEntry } from '../../snapshot/records/zone-entry.ts'
import { joinLabels, labelOf, serviceOwner } from '../objects/labels.ts'
import type { EndpointSlice, Service, ServiceImport } from '../objects/objects.ts'
import type { NamingOptions } from '../objects/options.ts'
import { type Backend, backendRecords, type Place } from './backend-records.ts'
import { endpointNames } from './endpoint-names.ts'
import { endpointBackends } from './named-slices.ts'
import { portNames } from './port-names.ts'
import { clusterIpBackends } from './service-names.ts'

const CLUSTER_LABEL = 'multicluster.kubernetes.io/source-cluster'

/** Returns all names of a ServiceImport and of the endpoints in its slices. */
export function importNames(
  imported: ServiceImport,
  slices: readonly EndpointSlice[],
  options: NamingOptions,
): ZoneEntry[] {
  const owner = serviceOwner(imported)
  if (owner === undefined) return []
  const place: Place = { owner, namespace: imported.namespace, ttlSeconds: options.ttlSeconds }
  const endpoints = slices.flatMap((slice) => importBackends(owner, slice, options.usesPodNames))
  if (imported.isHeadless) {
    return [
      ...backendRecords(place, endpoints),
      ...portNames(place, endpoints),
      ...endpointNames(place, endpoints),
    ]
  }
  if (options.ignoresEmptyServices && endpoints.length === 0) return []
  if (imported.ports.length === 0) return endpointNames(place, endpoints)
  const backends = clusterIpBackends(imported, owner)
  return [
    // The name exists as soon as there are ports; the addresses may come later.
    { kind: 'name', owner, namespace: imported.namespace },
    ...backendRecords(place, backends),
    ...portNames(place, backends),
    ...endpointNames(place, endpoints),
  ]
}

/**
 * Returns the names of a Service that a ServiceExport names: those of its endpoints, as for a
 * headless ServiceImport. Clusters use them if no ServiceImport exists.
 */
export function exportNames(
  service: Service,
  slices: readonly EndpointSlice[],
  options: NamingOptions & { readonly tree: Extract<NamingOptions['tree'], { kind: 'exports' }> },
): ZoneEntry[] {
  const owner = serviceOwner(service)
  const parent = owner && joinLabels(labelOf(options.tree.cluster), owner)
  if (owner === undefined || parent === undefined || service.type === 'ExternalName') return []
  const place: Place = { owner, namespace: service.namespace, ttlSeconds: options.ttlSeconds }
  const endpoints = endpointBackends(parent, slices, options.usesPodNames)
  return [
    ...backendRecords(place, endpoints),
    ...portNames(place, endpoints),
    ...endpointNames(place, endpoints),
  ]
}

/** Returns the name above those of a slice's endpoints: `<cluster>.<service>`. */
export function clusterOwner(slice: EndpointSlice, owner: Uint8Array): Uint8Array | undefined {
  const cluster = slice.labels.get(CLUSTER_LABEL) ?? ''
  return cluster === '' ? owner : joinLabels(labelOf(cluster), owner)
}

/** Names endpoints below the cluster that they are in. */
function importBackends(owner: Uint8Array, slice: EndpointSlice, usesPodNames: boolean): Backend[] {
  const parent = clusterOwner(slice, owner)
  return parent === undefined ? [] : endpointBackends(parent, [slice], usesPodNames)
}
