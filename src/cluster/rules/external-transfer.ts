/**
 * The records of a Service in a transfer of an external zone, as CoreDNS lists them
 * (plugin/k8s_external/transfer.go): the addresses once for each port; SRV records twice for
 * endpoints, and once by name, with the first port, for external addresses.
 * @module
 */
import type { ExternalTree } from '../../corefile/cluster-tree.ts'
import { concatBytes, toLatin1 } from '../../dns/bytes/bytes.ts'
import { parseName } from '../../dns/names/name.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import type { RRset } from '../../snapshot/records/zone-entry.ts'
import type { EndpointSlice, Port, Service } from '../objects/objects.ts'
import type { NamingOptions } from '../objects/options.ts'
import {
  type Backend,
  backendRecords,
  backendsOf,
  type Place,
  serviceNumbers,
  shareOf,
} from './backend-records.ts'
import { externalHosts, externalOwner } from './external-names.ts'
import { endpointBackends } from './named-slices.ts'
import { fitting } from './pairs.ts'
import { portOwner } from './port-names.ts'

/** Weight of a single SRV record. */
const ALONE = 100

/** Lists the records of a Service. */
export function externalTransfer(
  { service, slices }: { readonly service: Service; readonly slices: readonly EndpointSlice[] },
  options: NamingOptions & { readonly tree: ExternalTree },
): RRset[] {
  const owner = externalOwner(service)
  if (owner === undefined) return []
  const { tree, ttlSeconds, usesPodNames } = options
  const place: Place = { owner, namespace: service.namespace, ttlSeconds }
  const hosts = externalHosts(service)
  if (hosts.length > 0) {
    const ports = fitting(service.ports, hosts.length)
    const backends = hosts.flatMap((host) => backendsOf(host, owner, ports))
    return hostTransfer(place, backends, tree)
  }
  if (!tree.hasEndpoints || !options.hasEndpoints || !service.isHeadless) return []
  return endpointTransfer(place, endpointBackends(owner, slices, usesPodNames), tree)
}

function hostTransfer(place: Place, backends: readonly Backend[], tree: ExternalTree): RRset[] {
  const named = new Set<string>()
  const records: RRset[] = []
  for (const backend of backends) {
    const { port } = backend
    records.push(...addresses(place, [backend], tree))
    const places = [place, portPlace(place, port)]
    for (const at of places) {
      const key = at?.owner.join() ?? ''
      if (named.has(key)) continue
      const own = services(at, [backend], ALONE)
      if (own.length > 0) named.add(key)
      records.push(...own)
    }
  }
  return records
}

function endpointTransfer(place: Place, backends: readonly Backend[], tree: ExternalTree): RRset[] {
  const own = services(place, backends, shareOf(backends.length))
  const records = [...addresses(place, backends, tree), ...own, ...own]
  for (const backend of backends) {
    const at = { ...place, owner: backend.target }
    const ownServices = services(at, [backend], ALONE)
    records.push(...addresses(at, [backend], tree), ...ownServices, ...ownServices)
  }
  const byPort = Map.groupBy(backends, ({ port }) => portPlace(place, port)?.owner.join())
  for (const [key, some] of byPort) {
    if (key === undefined) continue
    const at = portPlace(place, some[0]?.port)
    records.push(...services(at, some, shareOf(some.length)))
  }
  return records
}

function portPlace(place: Place, port: Port | undefined): Place | undefined {
  const owner = port && portOwner(port, place.owner)
  return owner && { ...place, owner }
}

function addresses(
  place: Place,
  backends: readonly Backend[],
  { ttlSeconds }: ExternalTree,
): RRset[] {
  const sets = backendRecords(place, backends).filter(({ type }) => type !== TYPE.SRV)
  return sets.map((set) => (set.type === TYPE.CNAME ? set : { ...set, ttlSeconds }))
}

/** Returns an SRV record for each target and port; hostnames are targets themselves. */
function services(place: Place | undefined, backends: readonly Backend[], weight: number): RRset[] {
  const unique = new Map<string, RRset>()
  for (const { host, address, target, port } of backends) {
    const name = address === undefined ? parseName(host) : undefined
    if (place === undefined || port?.port === undefined) continue
    if (address === undefined && name === undefined) continue
    const bytes = serviceNumbers(0, weight, port.port)
    const rdata = name === undefined ? { bytes, target } : { bytes: concatBytes(bytes, name) }
    const key = `${port.port} ${name === undefined ? toLatin1(target) : host}`
    unique.set(key, { kind: 'records', ...place, type: TYPE.SRV, rdata: [rdata] })
  }
  return [...unique.values()]
}
