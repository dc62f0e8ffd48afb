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
export function clusterIpPointers(service: Service, options: NamingOptions): Pointer[] {
  const owner = serviceOwner(service)
  if (owner === undefined) return []
  return service.clusterIPs.flatMap((ip) => {
    const address = parseAddress(ip)
    return address === undefined ? [] : [pointer(address, owner, service.namespace, options)]
  })
}

/**
 * Makes the pointers of a slice's endpoints, which yield to those of cluster IPs.
 * @param isWanted tells by its place among all addresses of the slice whether one is wanted
 */
export function endpointPointers(
  slice: EndpointSlice,
  options: NamingOptions,
  isWanted: (place: number) => boolean = () => true,
): Pointer[] {
  const pointers: Pointer[] = []
  if (!options.hasEndpoints) return pointers
  let owner: Uint8Array | undefined
  let place = 0
  for (const endpoint of slice.endpoints) {
    for (const host of endpoint.addresses) {
      if (!isWanted(place++) || !endpoint.isReady) continue
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
