/**
 * Where addresses point back to (DNS specification 1.1.0 §2.3.3, §2.4.3): a cluster IP to its
 * Service; any other address to every ready endpoint that has it, also of a Service that does not
 * exist.
 * @module
 */
import { parseAddress } from '../dns/address.ts'
import type { Pointer } from '../records/zone-entry.ts'
import { endpointLabel } from './endpoint-names.ts'
import { joinLabels } from './labels.ts'
import type { EndpointSlice, Service } from './objects.ts'
import type { NamingOptions } from './options.ts'
import { serviceOwner } from './service-names.ts'

/** Makes the pointers of a Service's cluster IPs. */
export function clusterIpPointers(
  service: Service,
  options: NamingOptions,
  isWanted: (address: Uint8Array) => boolean = () => true,
): Pointer[] {
  const pointers: Pointer[] = []
  for (const ip of service.clusterIPs) {
    const address = parseAddress(ip)
    if (address === undefined || !isWanted(address)) continue
    const owner = serviceOwner(service)
    if (owner !== undefined) pointers.push(pointer(address, owner, service.namespace, options))
  }
  return pointers
}

/**
 * Makes the pointers of a slice's endpoints, which yield to those of cluster IPs.
 * @param places which of all addresses of the slice are wanted; all when left out
 */
export function endpointPointers(
  slice: EndpointSlice,
  options: NamingOptions,
  places?: ReadonlySet<number>,
): Pointer[] {
  const pointers: Pointer[] = []
  // Most slices have nothing to do with what is wanted, and are not even looked at.
  if (!options.hasEndpoints || places?.size === 0) return pointers
  let owner: Uint8Array | undefined
  let place = 0
  for (const endpoint of slice.endpoints) {
    for (const host of endpoint.addresses) {
      const isWanted = places === undefined || places.has(place)
      place++
      if (!isWanted || !endpoint.isReady) continue
      const address = parseAddress(host)
      owner ??= serviceOwner({ namespace: slice.namespace, name: slice.serviceName })
      const target = joinLabels(endpointLabel(endpoint, host, options.usesPodNames), owner)
      if (address === undefined || target === undefined) continue
      pointers.push({ ...pointer(address, target, slice.namespace, options), isYielding: true })
    }
  }
  return pointers
}

function pointer(
  address: Uint8Array,
  target: Uint8Array,
  scope: string,
  { ttlSeconds }: NamingOptions,
): Pointer {
  return { kind: 'pointer', address, scope, ttlSeconds, target }
}
