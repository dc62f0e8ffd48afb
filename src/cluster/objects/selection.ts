/**
 * Selects objects and namespaces by the options `labels`, `namespaces` and `namespace_labels`.
 * @module
 */
import type { Cluster } from './cluster.ts'
import { labelOf } from './labels.ts'
import type { ClusterObject, EndpointSlice } from './objects.ts'
import type { NamingOptions, SelectedHosts } from './options.ts'
import { matchesSelector } from './selector.ts'

/**
 * Returns whether an object matches the selector for its kind, and is relevant for the tree of
 * names. ServiceImports have to match the selector of namespaces, as in CoreDNS
 * (plugin/kubernetes/controller.go).
 */
export function isSelected(object: ClusterObject, options: NamingOptions): boolean {
  // A ServiceExport needs no match: the Service itself is selected.
  if (object.kind === 'ServiceExport') return options.tree.kind === 'exports'
  const byNamespace = object.kind === 'Namespace' || object.kind === 'ServiceImport'
  const selector = byNamespace ? options.namespaceSelector : options.objectSelector
  return isUsed(object, options) && matchesSelector(selector, object.labels)
}

/** Trees beside the main one need few kinds of objects. */
function isUsed(object: ClusterObject, { tree, localAddresses }: NamingOptions): boolean {
  const isLocal = ({ endpoints }: EndpointSlice): boolean =>
    endpoints.hasOneOf(new Set(localAddresses))
  switch (tree.kind) {
    case 'cluster':
      return true
    case 'multicluster':
      return object.kind !== 'EndpointSlice' || object.importName !== '' || isLocal(object)
    case 'exports':
      return true
    case 'external':
      if (object.kind === 'EndpointSlice') return tree.hasEndpoints || isLocal(object)
      if (object.kind === 'Service') return tree.hasEndpoints || object.outside !== undefined
      return object.kind === 'Namespace'
    case 'hosts':
      return saysHosts(object, tree)
  }
}

/** The label that excludes an object from `k8s_gateway`. */
const IGNORE_LABEL = 'k8s-gateway.dns/ignore'

/** Returns whether an object has hostnames, or is a target of some. */
function saysHosts(object: ClusterObject, tree: SelectedHosts): boolean {
  if (object.kind === 'EndpointSlice' || isRouter(object, tree)) return true
  if (object.kind === 'Gateway') return isOneOf(object.className, tree.gatewayClasses)
  // Its addresses may be those of other objects.
  if (object.kind === 'Service' && tree.hasClusterIPs) return object.outside !== undefined
  return mayHaveNames(object, tree)
}

/** Returns whether the options of a tree let an object have hostnames of its own. */
export function mayHaveNames(object: ClusterObject, tree: SelectedHosts): boolean {
  const { kind, labels } = object
  const wanted: readonly string[] = tree.resources
  if (!wanted.includes(kind) || labels.get(IGNORE_LABEL) === 'true') return false
  if (kind === 'Ingress') return isOneOf(object.className, tree.ingressClasses)
  if (kind === 'Gateway') return isOneOf(object.className, tree.gatewayClasses)
  if (kind !== 'Service') return true
  const { serviceSelectors: selectors } = tree
  const isMet = selectors.length === 0 || selectors.some((one) => matchesSelector(one, labels))
  return isMet && object.outside !== undefined
}

/** Returns whether an object is the router of HostRoutes, whatever its labels and class are. */
export function isRouter(
  { kind, namespace, name }: ClusterObject,
  { router }: SelectedHosts,
): boolean {
  if (router.kind === 'addresses') return false
  const wanted = router.kind === 'Gateway' ? 'Gateway' : 'Service'
  return kind === wanted && router.namespace === namespace && router.name === name
}

/** Returns whether a list contains a text; an empty list contains everything. */
function isOneOf(text: string, list: readonly string[]): boolean {
  return list.length === 0 || list.includes(text)
}

/** Returns the names of the served namespaces, sorted: those that exist and are selected. */
export function servedNamespaces(cluster: Cluster, { namespaces }: NamingOptions): string[] {
  return [...cluster.namespaces.keys()]
    .filter((name) => namespaces.size === 0 || namespaces.has(name))
    .filter((name) => labelOf(name) !== undefined)
    .sort()
}

/**
 * The served namespaces. The list of namespaces applies to reverse look-ups too, the selector of
 * namespaces does not, as in CoreDNS (plugin/kubernetes/reverse.go).
 */
export type ServedNamespaces = {
  readonly names: readonly string[]
  readonly has: (namespace: string) => boolean
  readonly pointsBack: (namespace: string) => boolean
}

/** Returns the namespaces that are served. */
export function findServed(cluster: Cluster, options: NamingOptions): ServedNamespaces {
  const names = servedNamespaces(cluster, options)
  const served = new Set(names)
  return {
    names,
    has: (namespace) => served.has(namespace),
    pointsBack: (namespace) => options.namespaces.size === 0 || served.has(namespace),
  }
}
