/**
 * The ready addresses of slices and what each is called: made once, for the names that lead to
 * them, for where they point back to, and to tell whether some could not be named.
 * @module
 */

import { EMPTY, hashBytes } from '../../bytes/bytes.ts'
import { parseAddress } from '../../dns/address.ts'
import { isLabel, serviceOwner } from '../objects/labels.ts'
import type { Endpoint, EndpointSlice } from '../objects/objects.ts'
import type { NamingOptions } from '../objects/options.ts'
import type { Backend } from './backend-records.ts'
import { endpointLabel } from './endpoint-names.ts'

/** Hashes that are compared with each other rather than put in a set, which has to be made. */
const FEW = 24
const HOST_SEED = 1
const TARGET_SEED = 2

/** A ready address of an endpoint that has a name. Any port of its slice leads to it. */
export type NamedAddress = Pick<Backend, 'host' | 'address' | 'target'>

/** A slice, and what its ready addresses are called. */
export type NamedSlice = {
  readonly slice: EndpointSlice
  readonly addresses: readonly NamedAddress[]
  /** Whether all of them are addresses that have the name which was meant for them. */
  readonly isWhole: boolean
}

/** The relative name of a Service, when it can be one, and of what its slices list. */
export type NamedService = {
  readonly owner: Uint8Array | undefined
  readonly slices: readonly NamedSlice[]
}

/**
 * Names the ready addresses of a slice below the name of its Service.
 * @param places which of all addresses of the slice are wanted; all when left out
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
  for (const endpoint of slice.endpoints) {
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

/** Names a Service and what its slices list, where endpoints are called after it. */
export function nameEndpoints(
  slices: readonly EndpointSlice[],
  service: { readonly namespace: string; readonly name: string },
  { usesPodNames }: NamingOptions,
): NamedService {
  const owner = serviceOwner(service)
  // Of a Service that cannot be named, it is still told whether its endpoints could be.
  return { owner, slices: slices.map((slice) => nameSlice(slice, owner ?? EMPTY, usesPodNames)) }
}

/** Lists every named address of all slices with every port of its slice; without ports, once. */
export function sliceBackends(slices: readonly NamedSlice[]): Backend[] {
  const isAlone = areAlone(slices)
  const backends: Backend[] = []
  for (const { slice, addresses } of slices) {
    const { ports } = slice
    for (const { host, address, target } of addresses) {
      for (const port of ports) backends.push({ host, address, target, port, isAlone })
      if (ports.length > 0) continue
      backends.push({ host, address, target, port: undefined, isAlone })
    }
  }
  return backends
}

/** Whether no two addresses are the same or have the same name, as far as hashes tell. */
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

/** Lists every ready address of some slices with every port of its slice; without ports, once. */
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
