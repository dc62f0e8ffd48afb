/**
 * The records of a zone transfer as CoreDNS sends them (plugin/kubernetes/xfr.go): fewer than it
 * answers, some with other numbers, and some twice.
 *
 * | object | records sent |
 * |---|---|
 * | name servers | NS records; their addresses with TTL 0 |
 * | a cluster IP | addresses; SRV records of weight 100 for each port, at both their names |
 * | a headless Service | ready endpoints at both their names; SRV records with weights by slice |
 * | an ExternalName | a CNAME record |
 * @module
 */

import { EMPTY } from '../../dns/bytes/bytes.ts'
import { parseAddress } from '../../dns/names/address.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import { SERVER_CHOICES_TYPE } from '../../snapshot/records/server-choice.ts'
import type { Rdata, RRset } from '../../snapshot/records/zone-entry.ts'
import type { Cluster } from '../objects/cluster.ts'
import { joinLabels, serviceOwner } from '../objects/labels.ts'
import type { EndpointSlice, Port, Service, ServiceImport } from '../objects/objects.ts'
import type { NamingOptions } from '../objects/options.ts'
import { findServed } from '../objects/selection.ts'
import { cnameRdata, type Place, serviceNumbers, shareOf } from './backend-records.ts'
import { endpointLabel } from './endpoint-names.ts'
import { externalTransfer } from './external-transfer.ts'
import { clusterOwner } from './import-names.ts'
import { nameserverNames } from './nameserver-names.ts'
import { portOwner } from './port-names.ts'

/** Weight of the SRV records of a cluster IP, however many there are. */
const CLUSTER_IP_WEIGHT = 100

/** Returns the records of a zone transfer of the present objects, without the SOA record. */
export function transferRecords(cluster: Cluster, options: NamingOptions): Iterable<RRset> {
  const { tree } = options
  if (tree.kind === 'multicluster') {
    const services = inOrder(cluster, cluster.imports, options).map((service) => {
      return { service, slices: cluster.importSlicesOf(service) }
    })
    return sets(nameservers(cluster, options), services, options)
  }
  const services = inOrder(cluster, cluster.services, options).map((service) => {
    return { service, slices: cluster.slicesOf(service) }
  })
  if (tree.kind === 'external') {
    return services.flatMap((named) => externalTransfer(named, { ...options, tree }))
  }
  return sets(nameservers(cluster, options), services, options)
}

type Named = {
  readonly service: Service | ServiceImport
  readonly slices: readonly EndpointSlice[]
}

function inOrder<T extends Service | ServiceImport>(
  cluster: Cluster,
  services: ReadonlyMap<string, T>,
  options: NamingOptions,
): T[] {
  const served = findServed(cluster, options)
  const key = ({ name, namespace }: T): string => `${name}/${namespace}`
  return [...services.values()]
    .filter(({ namespace }) => served.has(namespace))
    .sort((a, b) => (key(a) < key(b) ? -1 : 1))
}

function* sets(
  first: readonly RRset[],
  services: readonly Named[],
  options: NamingOptions,
): Generator<RRset> {
  yield* first
  for (const { service, slices } of services) {
    const owner = serviceOwner(service)
    if (owner === undefined) continue
    const place = { owner, namespace: service.namespace, ttlSeconds: options.ttlSeconds }
    if (service.kind === 'Service' && service.type === 'ExternalName') {
      const cname = cnameRdata(service.externalName)
      if (cname !== undefined) yield set(place, TYPE.CNAME, cname)
    } else if (service.isHeadless || service.clusterIPs.length === 0) {
      const isShared = service.kind === 'ServiceImport'
      if (options.hasEndpoints || isShared) yield* headlessSets(place, slices, options)
    } else yield* clusterIpSets(place, service)
  }
}

/** Returns NS records and their glue addresses, which have the TTL 0 in CoreDNS. */
function nameservers(cluster: Cluster, options: NamingOptions): RRset[] {
  return nameserverNames(cluster, options)
    .filter(({ owner, isGlue }) => owner === EMPTY || isGlue === true)
    .filter(({ type }) => type !== SERVER_CHOICES_TYPE)
    .map(({ isGlue, ...record }) => (isGlue === true ? { ...record, ttlSeconds: 0 } : record))
}

function* clusterIpSets(place: Place, service: Service | ServiceImport): Generator<RRset> {
  const { clusterIPs, ports } = service
  for (const ip of clusterIPs) yield* addressSets(place, ip)
  for (const port of ports) {
    const at = { weight: CLUSTER_IP_WEIGHT, target: place.owner }
    yield* serviceSets(place, port, at)
    const owner = portOwner(port, place.owner)
    if (owner !== undefined) yield* serviceSets({ ...place, owner }, port, at)
  }
}

function* headlessSets(
  place: Place,
  slices: readonly EndpointSlice[],
  { tree, usesPodNames }: NamingOptions,
): Generator<RRset> {
  for (const slice of slices) {
    const { endpoints, ports } = slice
    const parent = tree.kind === 'multicluster' ? clusterOwner(slice, place.owner) : place.owner
    const ready = endpoints.unpack().filter(({ isReady }) => isReady)
    const weight = shareOf(ready.reduce((sum, { addresses }) => sum + addresses.length, 0))
    for (const endpoint of ready) {
      for (const address of endpoint.addresses) {
        const target = joinLabels(endpointLabel(endpoint, address, usesPodNames), parent)
        if (target === undefined || parseAddress(address) === undefined) continue
        yield* addressSets(place, address)
        yield* addressSets({ ...place, owner: target }, address)
        for (const port of ports) {
          const owner = portOwner(port, place.owner)
          if (owner !== undefined) yield* serviceSets({ ...place, owner }, port, { weight, target })
        }
      }
    }
  }
}

function* addressSets(place: Place, text: string): Generator<RRset> {
  const bytes = parseAddress(text)
  if (bytes !== undefined) yield set(place, bytes.length === 4 ? TYPE.A : TYPE.AAAA, { bytes })
}

function* serviceSets(
  place: Place,
  { port }: Port,
  { weight, target }: { readonly weight: number; readonly target: Uint8Array },
): Generator<RRset> {
  if (port === undefined) return
  const bytes = serviceNumbers(0, weight, port)
  yield set(place, TYPE.SRV, { bytes, target })
}

function set({ owner, namespace, ttlSeconds }: Place, type: number, rdata: Rdata): RRset {
  return { kind: 'records', owner, namespace, ttlSeconds, type, rdata: [rdata] }
}
