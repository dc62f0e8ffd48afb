/**
 * The names of a cluster, by group: the list of the rules, each of which is a file.
 * @module
 */
import type { ZoneEntry } from '../../snapshot/records/zone-entry.ts'
import { type Cluster, objectKey } from '../objects/cluster.ts'
import type { EndpointSlice } from '../objects/objects.ts'
import type { NamingOptions } from '../objects/options.ts'
import { externalNameserver, externalNamespace } from '../rules/external-names.ts'
import { nameserverNames } from '../rules/nameserver-names.ts'
import { keepFitting } from '../rules/naming-problems.ts'
import { podNames } from '../rules/pod-names.ts'
import { skydnsParents } from '../rules/skydns-names.ts'
import { namespaceNames, zoneNames } from '../rules/zone-names.ts'

/** Lists the keys of all Services, or ServiceImports, whether or not these exist. */
export function serviceKeys(cluster: Cluster, { tree }: NamingOptions): Set<string> {
  if (tree.kind === 'multicluster') return new Set(cluster.imports.keys())
  if (tree.kind === 'exports') return new Set(cluster.exports.keys())
  const keys = new Set(cluster.services.keys())
  for (const slice of cluster.slices.values()) keys.add(sliceServiceKey(slice))
  return keys
}

/** Returns the zone-level names, which belong to no namespace. */
export function zoneRecords(cluster: Cluster, options: NamingOptions): readonly ZoneEntry[] {
  const { tree } = options
  const parents = options.scheme === 'openshift3' ? skydnsParents() : []
  const entries =
    tree.kind === 'external'
      ? externalNameserver(cluster, { ...options, tree })
      : [...zoneNames(), ...parents, ...nameserverNames(cluster, options)]
  return keepFitting(entries, options)
}

/** Returns the name of a served namespace, and those of its Pods. */
export function namespaceRecords(
  cluster: Cluster,
  namespace: string,
  options: NamingOptions,
): readonly ZoneEntry[] {
  const parents = options.scheme === 'openshift3' ? skydnsParents(namespace) : []
  const entries =
    options.tree.kind === 'external'
      ? externalNamespace(namespace)
      : [...namespaceNames(namespace), ...parents, ...podNames(cluster, namespace, options)]
  return keepFitting(entries, options)
}

/** Returns the key of a slice's Service, whether or not that exists. */
export function sliceServiceKey({ namespace, serviceName }: EndpointSlice): string {
  return objectKey({ namespace, name: serviceName })
}
