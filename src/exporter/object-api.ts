/**
 * The part of the Kubernetes API that the exporter uses: lists and watches of collections.
 * @module
 */
import type { Kind } from '../kubernetes/objects/objects.ts'
import type { HostSource } from '../kubernetes/objects/options.ts'

/** How to reach an API server. */
export type ApiConnection =
  /** By a kubeconfig file; by default its current context. */
  | { readonly kind: 'kubeconfig'; readonly path: string; readonly context: string | undefined }
  /** By its URL, with files to authenticate both sides. */
  | {
      readonly kind: 'endpoint'
      readonly url: string
      readonly tls: { readonly cert: string; readonly key: string; readonly ca: string } | undefined
    }
  /** From inside the cluster; elsewhere by `KUBECONFIG` or `~/.kube/config`. */
  | { readonly kind: 'default' }

/** The options of the connection are invalid. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
}

/** A collection of the API, over all namespaces. */
export type Collection = {
  readonly kind: Kind
  /** Plural name, as in RBAC rules and in the manifest's `sources`. */
  readonly resource: string
  readonly path: string
  /** Selector that excludes objects at the server. */
  readonly fieldSelector?: string
  /**
   * Paths of older versions, for custom resources. If the server has none of them, the collection
   * is empty. Absent for built-in kinds.
   */
  readonly olderPaths?: readonly string[]
}

/** One page of a list. */
export type ObjectPage = {
  /** Objects of unknown shape; they may lack their kind. */
  readonly items: readonly unknown[]
  /** Resource version of the whole list. */
  readonly resourceVersion: string
  /** Continue token of the next page, '' after the last one. */
  readonly continueToken: string
}

/** A change, a bookmark or an error of the watch. */
export type WatchEvent = { readonly type: string; readonly object: unknown }

/** Options of a watch. */
export type WatchOptions = {
  readonly resourceVersion: string
  readonly onEvent: (event: WatchEvent) => void
  /** Called once when the response has started. */
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
   * Watches until the server ends it, the connection is silent for too long, or `signal` ends it.
   * None of these is an error.
   * @throws {ApiError} if the server refuses or is unreachable
   */
  readonly watch: (collection: Collection, options: WatchOptions) => Promise<void>
}

/** The API server is unreachable, or refuses. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** HTTP status, or `undefined` without a response. */
  readonly status: number | undefined

  constructor(message: string, status?: number, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}

/** HTTP status for a resource version that the server no longer has. */
export const STATUS_GONE = 410
/** HTTP status for a kind that the server does not serve. */
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

/** Collections of objects with hostnames; most kinds are custom resources. */
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

/**
 * Returns the collections that names depend on. There are many Pods, so they are read only for
 * `pods verified`.
 */
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

/** Adds Gateways, to which routes point, and EndpointSlices, to which Services may point. */
function hostCollections(resources: readonly HostSource[]): Collection[] {
  const collections = resources.map((kind) => HOST_COLLECTIONS[kind])
  if (resources.some((kind) => ROUTES.has(kind))) collections.push(GATEWAYS)
  if (resources.includes('Service')) collections.push(SLICES)
  return collections
}
