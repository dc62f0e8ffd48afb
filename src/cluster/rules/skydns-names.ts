/**
 * Names of Services in OpenShift 3, whose DNS server is SkyDNS (openshift/origin, release-3.11,
 * pkg/dns/serviceresolver.go).
 *
 * | name | points to |
 * |---|---|
 * | `<service>.<ns>.svc` | its cluster IPs; of a headless Service, its ready endpoints |
 * | any name below one with a cluster IP | the cluster IPs |
 * | `<service>.<ns>.endpoints`, `_endpoints.<service>.<ns>.svc` | its ready endpoints |
 * | `<id>.<service>.<ns>.endpoints` | the endpoint: `id` is its hostname or a hash |
 * | `openshift.default.svc` | like `kubernetes.default.svc`, unless it exists |
 *
 * SRV records have priority 10, and targets made of hashes. Unlike in SkyDNS, they have the ports
 * also if the query has none, not port 0; other names do not exist.
 * @module
 */
import type { ZoneEntry } from '../../snapshot/records/zone-entry.ts'
import { type Cluster, objectKey } from '../objects/cluster.ts'
import { ENDPOINTS, joinLabels, labelOf, SVC, WILDCARD } from '../objects/labels.ts'
import type { EndpointSlice, Service } from '../objects/objects.ts'
import type { NamingOptions } from '../objects/options.ts'
import { type Backend, backendRecords, backendsOf, type Place } from './backend-records.ts'
import { endpointNames } from './endpoint-names.ts'
import { fitting } from './pairs.ts'
import { portNames } from './port-names.ts'

const PRIORITY = 10
const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193
/** A Service that may be missing, and the one that replaces it then. */
const STANDING_IN = { absent: 'default/openshift', present: 'default/kubernetes' } as const

/** Returns all names of a Service that is not an ExternalName. */
export function skydnsNames(
  service: Service,
  slices: readonly EndpointSlice[],
  options: NamingOptions,
): ZoneEntry[] {
  const { namespace, name } = service
  const owner = joinLabels(labelOf(name), labelOf(namespace), SVC)
  const below = joinLabels(labelOf(name), labelOf(namespace), ENDPOINTS)
  if (owner === undefined || below === undefined) return []
  const { ttlSeconds, hasEndpoints } = options
  const place: Place = { owner, namespace, ttlSeconds, priority: PRIORITY }
  if (!service.isHeadless && service.clusterIPs.length === 0) return []
  const listed = hasEndpoints ? slices : []
  const endpoints = endpointsBelow(below, listed)
  const prefixed = joinLabels(labelOf('_endpoints'), owner) ?? owner
  return [
    ...(service.isHeadless
      ? [nameAt(place), ...namesAt(place, endpointsBelow(owner, listed))]
      : clusterIpNames(place, service)),
    nameAt({ ...place, owner: below }),
    ...namesAt({ ...place, owner: below }, endpoints),
    nameAt({ ...place, owner: prefixed }),
    ...backendRecords({ ...place, owner: prefixed }, endpoints),
  ]
}

/** Returns the names above these, in the zone or in a namespace; each is implied. */
export function skydnsParents(namespace?: string): ZoneEntry[] {
  const owner = namespace === undefined ? ENDPOINTS : joinLabels(labelOf(namespace), ENDPOINTS)
  if (owner === undefined) return []
  return [{ kind: 'name', owner, namespace: namespace ?? '', isImplied: true }]
}

/** Returns the names of a missing Service, from the Service that replaces it. */
export function standInNames(
  cluster: Cluster,
  service: Service,
  { ttlSeconds }: NamingOptions,
): ZoneEntry[] {
  const { absent, present } = STANDING_IN
  if (objectKey(service) !== present || cluster.services.has(absent)) return []
  const [namespace = '', name = ''] = absent.split('/')
  const owner = joinLabels(labelOf(name), labelOf(namespace), SVC)
  if (owner === undefined) return []
  const backends = service.clusterIPs.flatMap((host) => backendsOf(host, owner, []))
  return backendRecords({ owner, namespace, ttlSeconds }, backends)
}

/** Returns the key of the Service that one with this key replaces; `undefined` for none. */
export function standInOf(key: string): string | undefined {
  return key === STANDING_IN.absent ? STANDING_IN.present : undefined
}

function clusterIpNames(place: Place, { clusterIPs, ports }: Service): ZoneEntry[] {
  const most = fitting(ports, clusterIPs.length)
  const backends = clusterIPs.flatMap((host) => {
    const target = joinLabels(labelOf(hashOf(host)), place.owner)
    return target === undefined ? [] : backendsOf(host, target, most)
  })
  const addresses = backends.map((backend): Backend => ({ ...backend, port: undefined }))
  const anything = joinLabels(WILDCARD, place.owner) ?? place.owner
  return [...namesAt(place, backends), ...backendRecords({ ...place, owner: anything }, addresses)]
}

/** Returns the entry of a name that exists also without endpoints. */
function nameAt({ owner, namespace }: Place): ZoneEntry {
  return { kind: 'name', owner, namespace }
}

function namesAt(place: Place, backends: readonly Backend[]): ZoneEntry[] {
  return [
    ...backendRecords(place, backends),
    ...portNames(place, backends),
    ...endpointNames(place, backends),
  ]
}

function endpointsBelow(parent: Uint8Array, slices: readonly EndpointSlice[]): Backend[] {
  return slices.flatMap((slice) => {
    const ready = slice.endpoints.unpack().filter(({ isReady }) => isReady)
    const count = ready.reduce((sum, { addresses }) => sum + addresses.length, 0)
    const ports = fitting(slice.ports, count)
    return ready.flatMap(({ addresses, hostname }) =>
      addresses.flatMap((host) => {
        const target = joinLabels(labelOf(hostname) ?? labelOf(hashOf(host)), parent)
        return target === undefined ? [] : backendsOf(host, target, ports)
      }),
    )
  })
}

/** Returns the 32-bit FNV-1a hash of the address as text, in hexadecimal without leading zeros. */
function hashOf(text: string): string {
  let hash = FNV_OFFSET
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), FNV_PRIME)
  }
  return (hash >>> 0).toString(16)
}
