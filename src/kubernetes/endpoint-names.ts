/**
 * `<endpoint>.<service>`: one name for each ready endpoint (DNS specification 1.1.0 §2.4.1), also
 * of a Service with a cluster IP. An endpoint is called by its host name; else, when that is asked
 * for, after its Pod; else by its address with dashes.
 * @module
 */
import { LABEL_BYTES_MAX } from '../dns/limits.ts'
import type { RecordSet } from '../records/zone-entry.ts'
import {
  type Backend,
  backendRecords,
  backendsOf,
  type Place,
  type RecordsOf,
} from './backend-records.ts'
import { dashedLabelOf, joinLabels, labelOf } from './labels.ts'
import type { Endpoint, EndpointSlice } from './objects.ts'

/** What an address ends in whose label would end in a dash. */
const OPEN_ENDS: ReadonlySet<string> = new Set([':', '.', '-'])

/** Lists every ready address of some slices with every port of its slice; without ports, once. */
export function endpointBackends(
  serviceOwner: Uint8Array,
  slices: readonly EndpointSlice[],
  usesPodNames: boolean,
): Backend[] {
  const backends: Backend[] = []
  for (const { endpoints, ports } of slices) {
    for (const endpoint of endpoints) {
      if (!endpoint.isReady) continue
      for (const host of endpoint.addresses) {
        const target = joinLabels(endpointLabel(endpoint, host, usesPodNames), serviceOwner)
        if (target === undefined) continue
        for (const backend of backendsOf(host, target, ports)) backends.push(backend)
      }
    }
  }
  return backends
}

/** Makes the names of endpoints: each leads to the backends that share it. */
export function endpointNames(
  place: Place,
  backends: readonly Backend[],
  recordsOf: RecordsOf = backendRecords,
): RecordSet[] {
  const byTarget = new Map<string, Backend[]>()
  for (const backend of backends) {
    const known = byTarget.get(backend.targetKey)
    if (known === undefined) byTarget.set(backend.targetKey, [backend])
    else known.push(backend)
  }
  return [...byTarget.values()].flatMap((some) =>
    recordsOf({ ...place, owner: some[0]?.target ?? place.owner }, some),
  )
}

/**
 * What an endpoint's address is called, relative to its Service. A Pod's name may be several
 * labels.
 */
export function endpointLabel(
  { hostname, targetName }: Endpoint,
  address: string,
  usesPodNames: boolean,
): Uint8Array | undefined {
  const fromHostname = labelOf(hostname)
  if (fromHostname !== undefined) return fromHostname
  const isUsable = usesPodNames && targetName.length <= LABEL_BYTES_MAX
  const fromPod = isUsable ? joinLabels(...targetName.split('.').map(labelOf)) : undefined
  if (fromPod !== undefined) return fromPod
  // No label of an IPv6 address ends in a dash.
  const isOpen = address.includes(':') && OPEN_ENDS.has(address.at(-1) ?? '')
  return dashedLabelOf(isOpen ? `${address}0` : address)
}
