/**
 * `<a-b-c-d>.<ns>.pod`: names of Pods by address; not part of the DNS specification.
 *
 * - `disabled`: none, not even `<ns>.pod`
 * - `insecure`: any address in any served namespace, whether or not a Pod has it
 * - `verified`: the first address of each Pod that runs or is about to run, and its namespace
 * @module
 */
import { parseAddress } from '../../dns/names/address.ts'
import type { ZoneEntry } from '../../snapshot/records/zone-entry.ts'
import type { Cluster } from '../objects/cluster.ts'
import { dashedLabelOf, joinLabels, labelOf, POD } from '../objects/labels.ts'
import type { Pod, Port } from '../objects/objects.ts'
import type { NamingOptions } from '../objects/options.ts'
import { backendRecords, backendsOf } from './backend-records.ts'

/** CoreDNS also answers SRV queries for Pods, with this port for lack of one. */
const POD_PORT: Port = { name: '', protocol: '', port: 0 }

/** Returns the names of the Pods in a served namespace. */
export function podNames(
  cluster: Cluster,
  namespace: string,
  { pods: mode, ttlSeconds }: NamingOptions,
): ZoneEntry[] {
  const parent = joinLabels(labelOf(namespace), POD)
  if (mode === 'disabled' || parent === undefined) return []
  const kind = mode === 'insecure' ? 'address-names' : 'name'
  const entries: ZoneEntry[] = [{ kind, owner: parent, namespace }]
  if (mode === 'insecure') return entries
  for (const [host, count] of countByAddress(cluster.podsIn(namespace))) {
    const owner = joinLabels(dashedLabelOf(host), parent)
    if (owner === undefined) continue
    const backends = Array.from({ length: count }, () => backendsOf(host, owner, [POD_PORT])).flat()
    entries.push(...backendRecords({ owner, namespace, ttlSeconds }, backends))
    const address = parseAddress(host)
    if (address !== undefined) entries.push({ kind: 'pod-address', address, namespace })
  }
  return entries
}

/** Removes duplicates: Pods on the host's network share its address. */
function countByAddress(pods: Iterable<Pod>): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { podIP, isGone } of pods) {
    if (isGone || parseAddress(podIP) === undefined) continue
    counts.set(podIP, (counts.get(podIP) ?? 0) + 1)
  }
  return counts
}
