/**
 * Which objects and namespaces count, by the options `labels`, `namespaces` and `namespace_labels`.
 * @module
 */
import type { Cluster } from './cluster.ts'
import { labelOf } from './labels.ts'
import type { ClusterObject } from './objects.ts'
import type { NamingOptions } from './options.ts'
import { matchesSelector } from './selector.ts'

/** Tells whether an object meets the selector for its kind. */
export function isSelected(object: ClusterObject, options: NamingOptions): boolean {
  const selector = object.kind === 'Namespace' ? options.namespaceSelector : options.objectSelector
  return matchesSelector(selector, object.labels)
}

/** Names of the namespaces that are served, sorted: those that exist and are asked for. */
export function servedNamespaces(cluster: Cluster, { namespaces }: NamingOptions): string[] {
  return [...cluster.namespaces.keys()]
    .filter((name) => namespaces.size === 0 || namespaces.has(name))
    .filter((name) => labelOf(name) !== undefined)
    .sort()
}
