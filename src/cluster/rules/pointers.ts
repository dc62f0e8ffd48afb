/**
 * Pointers of addresses (DNS specification 1.1.0 §2.3.3, §2.4.3): a cluster IP points to its
 * Service; any other address to each ready endpoint that has it, even if the Service does not
 * exist.
 * @module
 */
import { parseAddress } from '../../dns/names/address.ts'
import type { Pointer } from '../../snapshot/records/zone-entry.ts'
import type { Service } from '../objects/objects.ts'
import type { NamingOptions } from '../objects/options.ts'
import type { NamedSlice } from './named-slices.ts'

/** Returns the pointers of a Service's cluster IPs to its name. */
export function clusterIpPointers(
  { clusterIPs, namespace }: Service,
  owner: Uint8Array,
  { ttlSeconds }: NamingOptions,
  isWanted: (address: Uint8Array) => boolean = () => true,
): Pointer[] {
  const pointers: Pointer[] = []
  for (const ip of clusterIPs) {
    const address = parseAddress(ip)
    if (address === undefined || !isWanted(address)) continue
    pointers.push({ kind: 'pointer', address, namespace, ttlSeconds, target: owner })
  }
  return pointers
}

/** Returns the pointers of a slice's endpoints, which yield to those of cluster IPs. */
export function endpointPointers(
  { slice: { namespace }, addresses }: NamedSlice,
  { ttlSeconds }: NamingOptions,
): Pointer[] {
  const pointers: Pointer[] = []
  for (const { address, target } of addresses) {
    if (address === undefined) continue
    pointers.push({ kind: 'pointer', address, namespace, ttlSeconds, target, isYielding: true })
  }
  return pointers
}
