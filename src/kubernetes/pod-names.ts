/**
 * `<a-b-c-d>.<ns>.pod`: names of Pods by address, not a part of the DNS specification.
 *
 * - `disabled`: none, not even `<ns>.pod`
 * - `insecure`: any address in any served namespace, whether or not a Pod has it
 * - `verified`: the first address of each Pod that runs or is about to
 * @module
 */
import { parseAddress } from '../dns/address.ts'
import type { ZoneEntry } from '../records/zone-entry.ts'
import { backendRecords, backendsOf } from './backend-records.ts'
import type { Cluster } from './cluster.ts'
import { dashed, joinLabels, labelOf, POD } from './labels.ts'
import type { Pod, Port } from './objects.ts'
import type { NamingOptions } from './options.ts'

/** CoreDNS answers SRV queries for Pods as well, for want of a port with this one. */
const POD_PORT: Port = { name: '', protocol: '', port: 0 }

/** Makes the names of Pods within the served namespaces. */
export function podNames(
  cluster: Cluster,
  namespaces: readonly string[],
  { pods: mode, ttlSeconds }: NamingOptions,
): ZoneEntry[] {
  if (mode === 'disabled') return []
  const entries: ZoneEntry[] = []
  const kind = mode === 'insecure' ? 'address-names' : 'name'
  for (const namespace of namespaces) {
    const owner = joinLabels(labelOf(namespace), POD)
    if (owner !== undefined) entries.push({ kind, owner, scope: namespace })
  }
  if (mode === 'insecure') return entries
  const served = new Set(namespaces)
  const pods = [...cluster.pods.values()].filter(
    ({ namespace, podIP, isGone }) =>
      !isGone && served.has(namespace) && parseAddress(podIP) !== undefined,
  )
  for (const [key, count] of countByAddress(pods)) {
    const [namespace = '', host = ''] = key.split(' ')
    const owner = joinLabels(labelOf(dashed(host)), labelOf(namespace), POD)
    if (owner === undefined) continue
    const backends = Array.from({ length: count }, () => backendsOf(host, owner, [POD_PORT])).flat()
    entries.push(...backendRecords({ owner, scope: namespace, ttlSeconds }, backends))
  }
  return entries
}

/** Pods on the host's network share its address. */
function countByAddress(pods: readonly Pod[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { namespace, podIP } of pods) {
    const key = `${namespace} ${podIP}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}
