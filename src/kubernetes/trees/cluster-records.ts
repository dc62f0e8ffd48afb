/**
 * All names of a cluster: each rule is a file of its own, and this is the list of them.
 * @module
 */
import type { ZoneEntry } from '../../records/zone-entry.ts'
import { type Cluster, objectKey } from '../objects/cluster.ts'
import type { EndpointSlice } from '../objects/objects.ts'
import type { NamingOptions } from '../objects/options.ts'
import { findServed } from '../objects/selection.ts'
import { outsideNameserver, outsideNamespace } from '../rules/external-names.ts'
import { keepFitting } from '../rules/fitting.ts'
import { nameserverNames } from '../rules/nameserver-names.ts'
import { podNames } from '../rules/pod-names.ts'
import { skydnsFrame } from '../rules/skydns-names.ts'
import { namespaceNames, zoneNames } from '../rules/zone-names.ts'
import { type NamedRecords, serviceRecords } from './service-records.ts'

/** Makes all names of a cluster's present objects. */
export function clusterRecords(cluster: Cluster, options: NamingOptions): NamedRecords {
  const served = findServed(cluster, options)
  const warnings: string[] = []
  const entries = [
    ...frameRecords(cluster, options),
    ...served.names.flatMap((namespace) => namespaceRecords(cluster, namespace, options)),
  ]
  for (const key of serviceKeys(cluster, options)) {
    const named = serviceRecords(cluster, key, { served, options })
    for (const entry of named.entries) entries.push(entry)
    warnings.push(...named.warnings)
  }
  return { entries, warnings }
}

/** Lists the keys of all Services, or ServiceImports, whether or not these exist. */
export function serviceKeys(cluster: Cluster, { tree }: NamingOptions): Set<string> {
  if (tree.kind === 'multicluster') return new Set(cluster.imports.keys())
  if (tree.kind === 'exports') return new Set(cluster.exports.keys())
  const keys = new Set(cluster.services.keys())
  for (const slice of cluster.slices.values()) keys.add(sliceServiceKey(slice))
  return keys
}

/** Makes the names that belong to no one namespace. */
export function frameRecords(cluster: Cluster, options: NamingOptions): readonly ZoneEntry[] {
  const { tree } = options
  const frame = options.scheme === 'openshift3' ? skydnsFrame() : []
  const entries =
    tree.kind === 'external'
      ? outsideNameserver(cluster, { ...options, tree })
      : [...zoneNames(), ...frame, ...nameserverNames(cluster, options)]
  return keepFitting(entries, options)
}

/** Makes the name of a served namespace, and those of its Pods. */
export function namespaceRecords(
  cluster: Cluster,
  namespace: string,
  options: NamingOptions,
): readonly ZoneEntry[] {
  const frame = options.scheme === 'openshift3' ? skydnsFrame(namespace) : []
  const entries =
    options.tree.kind === 'external'
      ? outsideNamespace(namespace)
      : [...namespaceNames(namespace), ...frame, ...podNames(cluster, namespace, options)]
  return keepFitting(entries, options)
}

/** Key of the Service that a slice belongs to, whether or not that exists. */
export function sliceServiceKey({ namespace, serviceName }: EndpointSlice): string {
  return objectKey({ namespace, name: serviceName })
}
