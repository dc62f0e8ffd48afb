/**
 * `<endpoint>.<service>`: one name for each ready endpoint (DNS specification 1.1.0 §2.4.1), also
 * for a Service with a cluster IP. The label is the endpoint's hostname; else, with
 * `endpoint_pod_names`, its Pod's name; else its address with dashes.
 * @module
 */

import { EMPTY, toLatin1 } from '../../dns/bytes/bytes.ts'
import { LABEL_BYTES_MAX } from '../../dns/names/limits.ts'
import type { RRset } from '../../snapshot/records/zone-entry.ts'
import { dashedLabelOf, joinLabels, labelOf } from '../objects/labels.ts'
import type { Endpoint } from '../objects/packed-endpoints.ts'
import { type Backend, backendRecords, type Place, type RecordsOf } from './backend-records.ts'

/** Appended to an address whose label would end in a dash. */
const OPEN_ENDS: ReadonlySet<string> = new Set([':', '.', '-'])

/** Returns the names of endpoints, each with the backends that share it. */
export function endpointNames(
  place: Place,
  backends: readonly Backend[],
  recordsOf: RecordsOf = backendRecords,
): RRset[] {
  const { namespace, ttlSeconds, priority } = place
  const names: RRset[] = []
  for (const some of byTarget(backends)) {
    const owner = some[0]?.target ?? place.owner
    const at = priority === undefined ? { owner, namespace, ttlSeconds } : { ...place, owner }
    for (const records of recordsOf(at, some)) names.push(records)
  }
  return names
}

/** Groups backends by their target; those of one address are consecutive. */
function byTarget(backends: readonly Backend[]): readonly (readonly Backend[])[] {
  const runs: Backend[][] = []
  for (let at = 0; at < backends.length; ) {
    const target = backends[at]?.target
    let end = at + 1
    while (end < backends.length && backends[end]?.target === target) end++
    runs.push(backends.slice(at, end))
    at = end
  }
  if (runs.length < 2 || backends[0]?.isAlone === true) return runs
  return [...Map.groupBy(backends, ({ target }) => toLatin1(target)).values()]
}

/**
 * Returns the name of an endpoint's address before the labels `below`; a Pod's name may be several
 * labels. `undefined` if DNS cannot express it.
 */
export function endpointLabel(
  { hostname, targetName }: Endpoint,
  address: string,
  usesPodNames: boolean,
  below: Uint8Array = EMPTY,
): Uint8Array | undefined {
  const fromHostname = labelOf(hostname, below)
  if (fromHostname !== undefined) return fromHostname
  if (usesPodNames && targetName.length <= LABEL_BYTES_MAX) {
    const labels = targetName.split('.').map((label) => labelOf(label))
    const fromPod = joinLabels(...labels, below)
    if (fromPod !== undefined) return fromPod
  }
  // No label of an IPv6 address ends in a dash.
  const isOpen = address.includes(':') && OPEN_ENDS.has(address.at(-1) ?? '')
  return dashedLabelOf(isOpen ? `${address}0` : address, below)
}
