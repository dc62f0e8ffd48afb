/**
 * Naming options from the Corefile's `kubernetes` directive.
 * @module
 */
import {
  CLUSTER_TREE,
  type ClusterTree,
  type ExternalTree,
  type HostsTree,
  treeName,
} from '../../corefile/cluster-tree.ts'
import {
  defaultKubernetes,
  isReverseZone,
  type KubernetesOptions,
} from '../../corefile/kubernetes-options.ts'
import { configError } from '../../corefile/problem.ts'
import { equalNames } from '../../dns/names/name.ts'
import type { NamingOptions, Tree } from '../objects/options.ts'
import { parseSelector, type Selector } from '../objects/selector.ts'

/**
 * Returns the naming options of a directive.
 * @param localAddresses addresses of the name server itself
 * @param tree the kind of names to build
 * @throws {ConfigError} if a label selector is invalid
 */
export function namingOptions(
  options: KubernetesOptions,
  localAddresses: readonly string[],
  tree: ClusterTree = CLUSTER_TREE,
): NamingOptions {
  return {
    tree: treeOf(options, tree),
    origins: originsOf(options, tree),
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

/** What is published beside a cluster's own names. */
type PublishedTrees = {
  /** Addresses of the name server itself. */
  readonly localAddresses: readonly string[]
  /** Identifier of the cluster. */
  readonly cluster: string
  /** Trees of other directives, each with a name of its own. */
  readonly trees?: readonly (ExternalTree | HostsTree)[]
}

/**
 * Returns the naming options of the trees that are published with a cluster's own names, by the
 * name of the tree.
 * @throws {ConfigError} if a label selector is invalid
 */
export function publishedTrees(
  options: KubernetesOptions,
  { localAddresses, cluster, trees = [] }: PublishedTrees,
): Readonly<Record<string, NamingOptions>> {
  const shared: readonly ClusterTree[] =
    options.multiclusterZones.length === 0
      ? []
      : [{ kind: 'multicluster' }, { kind: 'exports', cluster }]
  return Object.fromEntries([
    ...shared.map((tree) => [tree.kind, namingOptions(options, localAddresses, tree)]),
    // The name servers of these zones are the gateway's, not this cluster's.
    ...trees.map((tree) => {
      // The options of `kubernetes` select no hostnames.
      const own = tree.kind === 'hosts' ? defaultKubernetes(options, options.zones) : options
      return [treeName(tree), namingOptions(own, [], tree)]
    }),
  ])
}

/** Returns the origins of a tree, without those of others, so that CNAMEs stay in the tree. */
function originsOf(
  { zones, multiclusterZones }: KubernetesOptions,
  { kind }: ClusterTree,
): readonly Uint8Array[] {
  const forward = zones.filter((zone) => !isReverseZone(zone))
  const isShared = kind === 'multicluster' || kind === 'exports'
  const own = forward.filter(
    (zone) => multiclusterZones.some((shared) => equalNames(zone, shared)) === isShared,
  )
  return own.length === 0 ? forward : own
}

function treeOf(options: KubernetesOptions, tree: ClusterTree): Tree {
  if (tree.kind === 'etcd') throw new TypeError('the keys of an etcd are no objects')
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
