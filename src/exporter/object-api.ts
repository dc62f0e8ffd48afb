/**
 * What the exporter needs of a Kubernetes API server: lists and watches of some collections.
 * @module
 */
import type { Kind } from '../kubernetes/objects/objects.ts'
import type { HostSource } from '../kubernetes/objects/options.ts'

/** How to reach an API server. */
export type ApiConnection =
  /** By a kubeconfig file; its present context unless one is named. */
  | { readonly kind: 'kubeconfig'; readonly path: string; readonly context: string | undefined }
  /** By its URL, with files to authenticate both sides. */
  | {
      readonly kind: 'endpoint'
      readonly url: string
      readonly tls: { readonly cert: string; readonly key: string; readonly ca: string } | undefined
    }
  /** From inside the cluster; elsewhere by `KUBECONFIG` or `~/.kube/config`. */
  | { readonly kind: 'default' }

/** The connection cannot be made from what was given. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
}

/** A collection of the API, over all namespaces. */
export type Collection = {
  readonly kind: Kind
  /** Plural name, as RBAC rules and the manifest's `sources` have it. */
  readonly resource: string
  readonly path: string
  /** Objects that the server need not send. */
  readonly fieldSelector?: string
  /**
   * Paths of older versions, for a kind that people add to a cluster. Where the server has none of
   * them, it has no objects of the kind. Absent for kinds that every cluster has.
   */
  readonly olderPaths?: readonly string[]
}

/** One page of a list. */
export type ObjectPage = {
  /** Objects as the API has them, of unknown shape; they may lack their kind. */
  readonly items: readonly unknown[]
  /** Version of the collection that the whole list shows. */
  readonly resourceVersion: string
  /** Where the next page begins, '' after the last one. */
  readonly continueToken: string
}

/** A change, or news of the watch itself. */
export type WatchEvent = { readonly type: string; readonly object: unknown }

/** How to watch. */
export type WatchOptions = {
  readonly resourceVersion: string
  readonly onEvent: (event: WatchEvent) => void
  /** Called once when the server has begun to answer. */
  readonly onOpen: () => void
  readonly signal: AbortSignal
}

/** An API server. */
export type ObjectApi = {
  /** Its host and port, for metrics. */
  readonly host: string
  /** Reads one page, unless `signal` ends it. @throws {ApiError} */
  readonly list: (
    collection: Collection,
    continueToken: string,
    signal: AbortSignal,
  ) => Promise<ObjectPage>
  /**
   * Watches until the server ends it, silence lasts too long, or `signal` ends it; that is usual,
   * and nothing is thrown for it.
   * @throws {ApiError} when the server refuses or cannot be reached
   */
  readonly watch: (collection: Collection, options: WatchOptions) => Promise<void>
}

/** The API server cannot be reached, or does not want to. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** HTTP status, or `undefined` when there was no answer. */
  readonly status: number | undefined

  constructor(message: string, status?: number, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}

/** HTTP status of a version that the server no longer has. */
export const STATUS_GONE = 410
/** HTTP status of a kind that the server does not have. */
export const STATUS_NOT_FOUND = 404

const SERVICES: Collection = { kind: 'Service', resource: 'services', path: '/api/v1/services' }
const NAMESPACES: Collection = {
  kind: 'Namespace',
  resource: 'namespaces',
  path: '/api/v1/namespaces',
}
const SLICES: Collection = {
  kind: 'EndpointSlice',
  resource: 'endpointslices',
  path: '/apis/discovery.k8s.io/v1/endpointslices',
}
const IMPORTS: Collection = {
  kind: 'ServiceImport',
  resource: 'serviceimports',
  path: '/apis/multicluster.x-k8s.io/v1alpha1/serviceimports',
  olderPaths: [],
}
const EXPORTS: Collection = {
  kind: 'ServiceExport',
  resource: 'serviceexports',
  path: '/apis/multicluster.x-k8s.io/v1alpha1/serviceexports',
  olderPaths: [],
}
const PODS: Collection = {
  kind: 'Pod',
  resource: 'pods',
  path: '/api/v1/pods',
  fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed,status.phase!=Unknown',
}

const GATEWAY_API = '/apis/gateway.networking.k8s.io'
const GATEWAYS: Collection = {
  kind: 'Gateway',
  resource: 'gateways',
  path: `${GATEWAY_API}/v1/gateways`,
  olderPaths: [`${GATEWAY_API}/v1beta1/gateways`],
}

/** Collections of objects that say host names; most kinds are added to a cluster by people. */
const HOST_COLLECTIONS: Readonly<Record<HostSource, Collection>> = {
  HTTPRoute: {
    kind: 'HTTPRoute',
    resource: 'httproutes',
    path: `${GATEWAY_API}/v1/httproutes`,
    olderPaths: [`${GATEWAY_API}/v1beta1/httproutes`],
  },
  GRPCRoute: {
    kind: 'GRPCRoute',
    resource: 'grpcroutes',
    path: `${GATEWAY_API}/v1/grpcroutes`,
    olderPaths: [`${GATEWAY_API}/v1alpha2/grpcroutes`],
  },
  TLSRoute: {
    kind: 'TLSRoute',
    resource: 'tlsroutes',
    path: `${GATEWAY_API}/v1/tlsroutes`,
    olderPaths: [`${GATEWAY_API}/v1alpha3/tlsroutes`, `${GATEWAY_API}/v1alpha2/tlsroutes`],
  },
  Ingress: {
    kind: 'Ingress',
    resource: 'ingresses',
    path: '/apis/networking.k8s.io/v1/ingresses',
  },
  Service: SERVICES,
  DNSEndpoint: {
    kind: 'DNSEndpoint',
    resource: 'dnsendpoints',
    path: '/apis/externaldns.k8s.io/v1alpha1/dnsendpoints',
    olderPaths: [],
  },
  VirtualServer: {
    kind: 'VirtualServer',
    resource: 'virtualservers',
    path: '/apis/k8s.nginx.org/v1/virtualservers',
    olderPaths: [],
  },
  Node: { kind: 'Node', resource: 'nodes', path: '/api/v1/nodes' },
}
const ROUTES: ReadonlySet<HostSource> = new Set(['HTTPRoute', 'GRPCRoute', 'TLSRoute'])

/** The collections that names come from. Pods are many, and are read only for `pods verified`. */
export function collectionsFor({
  tree,
  pods,
  hasEndpoints,
}: {
  readonly tree:
    | { readonly kind: 'cluster' | 'multicluster' | 'exports' | 'external' }
    | { readonly kind: 'hosts'; readonly resources: readonly HostSource[] }
  readonly pods: 'disabled' | 'insecure' | 'verified'
  readonly hasEndpoints: boolean
}): readonly Collection[] {
  if (tree.kind === 'hosts') return hostCollections(tree.resources)
  const collections = [NAMESPACES, SERVICES]
  const isShared = tree.kind === 'multicluster' || tree.kind === 'exports'
  if (tree.kind === 'multicluster') collections.push(IMPORTS)
  if (tree.kind === 'exports') collections.push(EXPORTS)
  if (hasEndpoints || isShared) collections.push(SLICES)
  if (pods === 'verified' && tree.kind !== 'external') collections.push(PODS)
  return collections
}

/** Routes lead to Gateways, and Services may lead to their endpoints. */
function hostCollections(resources: readonly HostSource[]): Collection[] {
  const collections = resources.map((kind) => HOST_COLLECTIONS[kind])
  if (resources.some((kind) => ROUTES.has(kind))) collections.push(GATEWAYS)
  if (resources.includes('Service')) collections.push(SLICES)
  return collections
}
