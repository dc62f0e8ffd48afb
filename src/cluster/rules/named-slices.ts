/**
 * The ready addresses of slices with their names: computed once, for the names, for the pointers
 * and for warnings about endpoints without a name.
 * @module
 */

import { EMPTY, hashBytes } from '../../dns/bytes/bytes.ts'
import { parseAddress } from '../../dns/names/address.ts'
import { isLabel, serviceOwner } from '../objects/labels.ts'
import type { EndpointSlice } from '../objects/objects.ts'
import type { NamingOptions } from '../objects/options.ts'
import type { Endpoint } from '../objects/packed-endpoints.ts'
import type { Backend } from './backend-records.ts'
import { endpointLabel } from './endpoint-names.ts'
import { fitting } from './pairs.ts'

/** Most hashes that are compared pairwise; a set takes longer to create. */
const FEW = 24
const HOST_SEED = 1
const TARGET_SEED = 2

/** A ready address of an endpoint with a name. It has all ports of its slice. */
export type NamedAddress = Pick<Backend, 'host' | 'address' | 'target'>

/** A slice, and the names of its ready addresses. */
export type NamedSlice = {
  readonly slice: EndpointSlice
  readonly addresses: readonly NamedAddress[]
  /** Whether each of them is an address and has its intended name. */
  readonly isWhole: boolean
}

/** The relative name of a Service, if it has one, and those of its endpoints. */
export type NamedService = {
  readonly owner: Uint8Array | undefined
  readonly slices: readonly NamedSlice[]
}

/**
 * Names the ready addresses of a slice below the name of its Service.
 * @param places indexes of the needed addresses of the slice; default: all
 */
export function nameSlice(
  slice: EndpointSlice,
  serviceOwner: Uint8Array,
  usesPodNames: boolean,
  places?: ReadonlySet<number>,
): NamedSlice {
  const addresses: NamedAddress[] = []
  let isWhole = true
  let place = 0
  for (const endpoint of slice.endpoints.unpack()) {
    if (!endpoint.isReady) {
      place += endpoint.addresses.length
      continue
    }
    isWhole &&= !hasOddHostname(endpoint)
    for (const host of endpoint.addresses) {
      const isWanted = places === undefined || places.has(place)
      place++
      if (!isWanted) continue
      const target = endpointLabel(endpoint, host, usesPodNames, serviceOwner)
      const address = parseAddress(host)
      isWhole &&= target !== undefined && address !== undefined
      if (target === undefined) continue
      addresses.push({ host, address, target })
    }
  }
  return { slice, addresses, isWhole }
}

/** Names a Service and the endpoints in its slices. */
export function nameEndpoints(
  slices: readonly EndpointSlice[],
  service: { readonly namespace: string; readonly name: string },
  { usesPodNames }: NamingOptions,
): NamedService {
  const owner = serviceOwner(service)
  // A Service without a name still gets warnings about its endpoints.
  return { owner, slices: slices.map((slice) => nameSlice(slice, owner ?? EMPTY, usesPodNames)) }
}

/**
 * Lists every named address of all slices with each port of its slice, or once without ports. Of a
 * slice with too many pairs, the last ports are left out.
 */
export function sliceBackends(slices: readonly NamedSlice[]): Backend[] {
  const isAlone = areAlone(slices)
  const backends: Backend[] = []
  for (const { slice, addresses } of slices) {
    const ports = fitting(slice.ports, addresses.length)
    for (const { host, address, target } of addresses) {
      for (const port of ports) backends.push({ host, address, target, port, isAlone })
      if (ports.length > 0) continue
      backends.push({ host, address, target, port: undefined, isAlone })
    }
  }
  return backends
}

/** Returns whether all addresses and names differ, by their hashes. */
function areAlone(slices: readonly NamedSlice[]): boolean {
  const hashes: number[] = []
  for (const { addresses } of slices) {
    for (const { address, target } of addresses) {
      if (address === undefined) return false
      hashes.push(hashBytes(address, HOST_SEED), hashBytes(target, TARGET_SEED))
    }
  }
  if (hashes.length > FEW) return new Set(hashes).size === hashes.length
  for (let i = 1; i < hashes.length; i++) {
    for (let k = 0; k < i; k++) if (hashes[k] === hashes[i]) return false
  }
  return true
}

/** Lists every ready address of some slices with each port of its slice, or once without ports. */
export function endpointBackends(
  serviceOwner: Uint8Array,
  slices: readonly EndpointSlice[],
  usesPodNames: boolean,
): Backend[] {
  return sliceBackends(slices.map((slice) => nameSlice(slice, serviceOwner, usesPodNames)))
}

function hasOddHostname({ hostname }: Endpoint): boolean {
  return hostname !== '' && !isLabel(hostname)
}
