/**
 * Which objects and namespaces count, by the options `labels`, `namespaces` and `namespace_labels`.
 * @module
 */
import type { Cluster } from './cluster.ts'
import { labelOf } from './labels.ts'
import type { ClusterObject, EndpointSlice } from './objects.ts'
import type { NamingOptions } from './options.ts'
import { matchesSelector } from './selector.ts'

/**
 * Tells whether an object meets the selector for its kind, and may have a part in the names that
 * are made. ServiceImports have to meet the selector of namespaces: so it is in CoreDNS
 * (plugin/kubernetes/controller.go).
 */
export function isSelected(object: ClusterObject, options: NamingOptions): boolean {
  const byNamespace = object.kind === 'Namespace' || object.kind === 'ServiceImport'
  const selector = byNamespace ? options.namespaceSelector : options.objectSelector
  return isUsed(object, options) && matchesSelector(selector, object.labels)
}

/** Trees beside the main one come from few of a cluster's objects. */
function isUsed(object: ClusterObject, { tree, localAddresses }: NamingOptions): boolean {
  const isLocal = ({ endpoints }: EndpointSlice): boolean =>
    endpoints.some(({ addresses }) => addresses.some((at) => localAddresses.includes(at)))
  switch (tree.kind) {
    case 'cluster':
      return true
    case 'multicluster':
      return object.kind !== 'EndpointSlice' || object.importName !== '' || isLocal(object)
    case 'external':
      if (object.kind === 'EndpointSlice') return tree.hasEndpoints || isLocal(object)
      if (object.kind === 'Service') return tree.hasEndpoints || object.outside !== undefined
      return object.kind === 'Namespace'
  }
}

/** Names of the namespaces that are served, sorted: those that exist and are asked for. */
export function servedNamespaces(cluster: Cluster, { namespaces }: NamingOptions): string[] {
  return [...cluster.namespaces.keys()]
    .filter((name) => namespaces.size === 0 || namespaces.has(name))
    .filter((name) => labelOf(name) !== undefined)
    .sort()
}
