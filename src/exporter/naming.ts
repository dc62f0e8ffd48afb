/**
 * From the Corefile's `kubernetes` directive to the options of naming.
 * @module
 */
import { CLUSTER_TREE, type ClusterTree } from '../corefile/cluster-tree.ts'
import type { KubernetesOptions } from '../corefile/kubernetes-options.ts'
import { isReverseZone } from '../corefile/kubernetes-options.ts'
import { configError } from '../corefile/problem.ts'
import type { NamingOptions, Tree } from '../kubernetes/options.ts'
import { parseSelector, type Selector } from '../kubernetes/selector.ts'

/**
 * Makes the options of naming.
 * @param localAddresses addresses of the name server itself
 * @param tree which names are to be made
 * @throws {ConfigError} when a label selector is not one
 */
export function namingOptions(
  options: KubernetesOptions,
  localAddresses: readonly string[],
  tree: ClusterTree = CLUSTER_TREE,
): NamingOptions {
  return {
    tree: treeOf(options, tree),
    origins: options.zones.filter((zone) => !isReverseZone(zone)),
    scheme: options.naming,
    ttlSeconds: options.ttlSeconds,
    pods: options.pods,
    usesPodNames: options.usesPodNames,
    hasEndpoints: options.hasEndpoints,
    isZonal: options.isZonal,
    ignoresEmptyServices: options.ignoresEmptyServices,
    namespaces: new Set(options.namespaces),
    namespaceSelector: selector(options, 'namespace_labels', options.namespaceLabels),
    objectSelector: selector(options, 'labels', options.labels),
    localAddresses,
  }
}

function treeOf(options: KubernetesOptions, tree: ClusterTree): Tree {
  if (tree.kind !== 'hosts') return tree
  const serviceSelectors = tree.serviceSelectors.map((text) =>
    selector(options, 'serviceLabelSelectors', text),
  )
  return { ...tree, serviceSelectors }
}

function selector(options: KubernetesOptions, name: string, text: string): Selector {
  const parsed = parseSelector(text)
  if (parsed !== undefined) return parsed
  throw configError(options, `"${name} ${text}" is not a label selector such as "tier=gold,!old"`)
}
