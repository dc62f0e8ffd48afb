/**
 * `<zone>.pin._zone.<service>`: the endpoints of a headless Service in a topology zone, as in
 * CoreDNS's option `zonal` (plugin/kubernetes/README.md, "Zonal Names"). The zone may have several
 * labels. The `kubernetes` plugin resolves `prefer` in place of `pin` at query time.
 * @module
 */
import type { ZoneEntry } from '../../records/zone-entry.ts'
import { joinLabels, labelOf } from '../objects/labels.ts'
import type { EndpointSlice } from '../objects/objects.ts'
import { backendRecords, type Place } from './backend-records.ts'
import { endpointBackends } from './named-slices.ts'

const ANCHOR = labelOf('_zone')
const PIN = labelOf('pin')

/** Returns the zonal names of the headless Service at `place`; `_zone` exists if it has any. */
export function zonalNames(
  place: Place,
  slices: readonly EndpointSlice[],
  usesPodNames: boolean,
): ZoneEntry[] {
  const anchor = joinLabels(ANCHOR, place.owner)
  if (anchor === undefined) return []
  const entries: ZoneEntry[] = [
    { kind: 'name', owner: anchor, namespace: place.namespace, isImplied: true },
  ]
  for (const zone of zonesOf(slices)) {
    const owner = joinLabels(...zone.split('.').map((label) => labelOf(label)), PIN, anchor)
    if (owner === undefined) continue
    const within = slices.map((slice) => {
      const endpoints = slice.endpoints.filter((endpoint) => endpoint.zone === zone)
      return { ...slice, endpoints }
    })
    const backends = endpointBackends(place.owner, within, usesPodNames)
    entries.push(...backendRecords({ ...place, owner }, backends))
  }
  return entries
}

function zonesOf(slices: readonly EndpointSlice[]): Set<string> {
  const zones = new Set<string>()
  for (const { endpoints } of slices) {
    for (const { zone } of endpoints) if (zone !== '') zones.add(zone)
  }
  return zones
}
