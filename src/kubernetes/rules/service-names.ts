/**
 * The names of one Service, by its kind (DNS specification 1.1.0 §2.3 to §2.5).
 *
 * | Service | `<service>.<ns>.svc` | below it |
 * |---|---|---|
 * | with a cluster IP | its addresses | ports, ready endpoints |
 * | headless | addresses of its ready endpoints; without one it is not | the same, zones |
 * | ExternalName | CNAME; one that names an address is not | nothing |
 *
 * Those of OpenShift 3 are in a file of their own.
 * @module
 */
import { parseAddress } from '../../dns/address.ts'
import { TYPE } from '../../dns/rr-type.ts'
import type { RRset, ZoneEntry } from '../../records/zone-entry.ts'
import type { Port, Service } from '../objects/objects.ts'
import type { NamingOptions } from '../objects/options.ts'
import {
  aliasRdata,
  type Backend,
  backendRecords,
  backendsOf,
  type Place,
} from './backend-records.ts'
import { endpointNames } from './endpoint-names.ts'
import { type NamedService, sliceBackends } from './named-slices.ts'
import { portNames } from './port-names.ts'
import { skydnsNames } from './skydns-names.ts'
import { zonalNames } from './zonal-names.ts'

/** Makes all names of a Service from it and its slices, which are named below it. */
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

/** Makes the alias of an ExternalName Service; none when it names an address. */
export function externalName(service: Service, place: Place): RRset[] {
  const rdata = aliasRdata(service.externalName)
  return rdata === undefined
    ? []
    : [{ kind: 'records', ...place, type: TYPE.CNAME, rdata: [rdata] }]
}

/** Lists every port on every cluster IP; SRV records lead to the Service's own name. */
export function clusterIpBackends(
  service: { readonly clusterIPs: readonly string[]; readonly ports: readonly Port[] },
  owner: Uint8Array,
): Backend[] {
  const hosts = service.clusterIPs.filter((ip) => parseAddress(ip) !== undefined)
  return hosts.flatMap((host) => backendsOf(host, owner, service.ports))
}
