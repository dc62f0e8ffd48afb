/**
 * Where addresses point back to (DNS specification 1.1.0 §2.3.3, §2.4.3): a cluster IP to its
 * Service; any other address to every ready endpoint that has it, also of a Service that does not
 * exist.
 * @module
 */
import { parseAddress } from '../dns/address.ts'
import { toLatin1 } from '../dns/bytes.ts'
import type { Pointer } from '../records/zone-entry.ts'
import type { Cluster } from './cluster.ts'
import { endpointBackends } from './endpoint-names.ts'
import type { NamingOptions } from './options.ts'
import { serviceOwner } from './service-names.ts'

/**
 * Makes the pointers of all addresses. `isServed` tells whether a namespace's objects point back.
 */
export function pointers(
  cluster: Cluster,
  options: NamingOptions,
  isServed: (namespace: string) => boolean,
): Pointer[] {
  const clusterPointers = clusterIpPointers(cluster, options, isServed)
  const taken = new Set(clusterPointers.map(({ address }) => toLatin1(address)))
  const endpointPointers = options.hasEndpoints
    ? [...cluster.slices.values()].flatMap((slice) => {
        const owner = serviceOwner({ namespace: slice.namespace, name: slice.serviceName })
        if (owner === undefined || !isServed(slice.namespace)) return []
        // Without ports each address comes once.
        const backends = endpointBackends(owner, [{ ...slice, ports: [] }], options.usesPodNames)
        return backends.flatMap(({ address, target }) =>
          pointer(address, target, slice.namespace, options),
        )
      })
    : []
  return [
    ...clusterPointers,
    ...endpointPointers.filter(({ address }) => !taken.has(toLatin1(address))),
  ]
}

function clusterIpPointers(
  cluster: Cluster,
  options: NamingOptions,
  isServed: (namespace: string) => boolean,
): Pointer[] {
  return [...cluster.services.values()].flatMap((service) => {
    const owner = serviceOwner(service)
    if (owner === undefined || !isServed(service.namespace)) return []
    return service.clusterIPs.flatMap((ip) =>
      pointer(parseAddress(ip), owner, service.namespace, options),
    )
  })
}

function pointer(
  address: Uint8Array | undefined,
  target: Uint8Array,
  scope: string,
  { ttlSeconds }: NamingOptions,
): Pointer[] {
  return address === undefined ? [] : [{ kind: 'pointer', address, scope, ttlSeconds, target }]
}
