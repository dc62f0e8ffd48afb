/**
 * The names of one Service, by its kind (DNS specification 1.1.0 §2.3 to §2.5).
 *
 * | Service | `<service>.<ns>.svc` | below it |
 * |---|---|---|
 * | with a cluster IP | its addresses | ports, ready endpoints |
 * | headless | addresses of its ready endpoints; NXDOMAIN without one | the same, zones |
 * | ExternalName | CNAME; NXDOMAIN if it has an address | nothing |
 *
 * `skydns-names.ts` has those of OpenShift 3.
 * @module
 */
import { parseAddress } from '../../dns/names/address.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import type { RRset, ZoneEntry } from '../../snapshot/records/zone-entry.ts'
import { joinLabels, labelOf } from '../objects/labels.ts'
import type { EndpointSlice, Port, Service } from '../objects/objects.ts'
import type { NamingOptions } from '../objects/options.ts'
import { PackedEndpoints } from '../objects/packed-endpoints.ts'
import {
  type Backend,
  backendRecords,
  backendsOf,
  cnameRdata,
  type Place,
} from './backend-records.ts'
import { endpointNames } from './endpoint-names.ts'
import { endpointBackends, type NamedService, sliceBackends } from './named-slices.ts'
import { fitting } from './pairs.ts'
import { portNames } from './port-names.ts'
import { skydnsNames } from './skydns-names.ts'

/** Returns all names of a Service and of the endpoints in its slices. */
export function serviceNames(
  service: Service,
  { owner, slices: named }: NamedService,
  options: NamingOptions,
): ZoneEntry[] {
  if (owner === undefined) return []
  const place: Place = { owner, namespace: service.namespace, ttlSeconds: options.ttlSeconds }
  if (service.type === 'ExternalName') return externalName(service, place)
  const slices = named.map(({ slice }) => slice)
  if (options.scheme === 'openshift3') return skydnsNames(service, slices, options)
  const endpoints = options.hasEndpoints ? sliceBackends(named) : []
  if (service.isHeadless) {
    return [
      ...backendRecords(place, endpoints),
      ...portNames(place, endpoints),
      ...endpointNames(place, endpoints),
      ...(options.isZonal ? zonalNames(place, slices, options.usesPodNames) : []),
    ]
  }
  if (options.ignoresEmptyServices && endpoints.length === 0) return []
  const backends = clusterIpBackends(service, owner)
  return [
    ...backendRecords(place, backends),
    ...portNames(place, backends),
    ...endpointNames(place, endpoints),
  ]
}

/** Returns the CNAME record of an ExternalName Service; none if it has an address. */
function externalName(service: Service, place: Place): RRset[] {
  const rdata = cnameRdata(service.externalName)
  return rdata === undefined
    ? []
    : [{ kind: 'records', ...place, type: TYPE.CNAME, rdata: [rdata] }]
}

/** Lists every port on every cluster IP; the target of SRV records is the Service's own name. */
export function clusterIpBackends(
  service: { readonly clusterIPs: readonly string[]; readonly ports: readonly Port[] },
  owner: Uint8Array,
): Backend[] {
  const hosts = service.clusterIPs.filter((ip) => parseAddress(ip) !== undefined)
  const ports = fitting(service.ports, hosts.length)
  return hosts.flatMap((host) => backendsOf(host, owner, ports))
}

const ANCHOR = labelOf('_zone')
const PIN = labelOf('pin')

/** Returns the zonal names of the headless Service at `place`; `_zone` exists if it has any. */
function zonalNames(
  place: Place,
  slices: readonly EndpointSlice[],
  usesPodNames: boolean,
): ZoneEntry[] {
  const anchor = joinLabels(ANCHOR, place.owner)
  if (anchor === undefined) return []
  const entries: ZoneEntry[] = [
    { kind: 'name', owner: anchor, namespace: place.namespace, isImplied: true },
  ]
  for (const [zone, within] of slicesByZone(slices)) {
    const owner = joinLabels(...zone.split('.').map((label) => labelOf(label)), PIN, anchor)
    if (owner === undefined) continue
    const backends = endpointBackends(place.owner, within, usesPodNames)
    entries.push(...backendRecords({ ...place, owner }, backends))
  }
  return entries
}

/** Returns the slices of each zone, with its endpoints only. */
function slicesByZone(slices: readonly EndpointSlice[]): Map<string, EndpointSlice[]> {
  const byZone = new Map<string, EndpointSlice[]>()
  for (const slice of slices) {
    for (const [zone, some] of Map.groupBy(slice.endpoints.unpack(), ({ zone }) => zone)) {
      if (zone === '') continue
      const within = { ...slice, endpoints: PackedEndpoints.from(some) }
      const known = byZone.get(zone)
      if (known === undefined) byZone.set(zone, [within])
      else known.push(within)
    }
  }
  return byZone
}
