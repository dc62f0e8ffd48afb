/**
 * The part of the Kubernetes API that the exporter uses: lists and watches of collections.
 * @module
 */

import { resolve } from 'node:path'
import type { HostResource } from '../../corefile/cluster-tree.ts'
import type { KubernetesOptions } from '../../corefile/kubernetes-options.ts'
import { recordOf } from '../../dns/bytes/unknown.ts'
import { HOST_SOURCES } from '../objects/host-sources.ts'
import type { Kind } from '../objects/objects.ts'
import type { NamingOptions, SelectedHosts, Tree } from '../objects/options.ts'

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

/** Objects of the API that one request lists or watches. */
export type Listed = {
  /** Plural name, as in RBAC rules and in the manifest's `sources`. */
  readonly resource: string
  readonly path: string
  /** Selector that excludes objects at the server. */
  readonly fieldSelector?: string
  /** Label selector that excludes objects at the server. */
  readonly labelSelector?: string
  /** Whether we read its objects in Protocol Buffers as well (`protobuf-objects.ts`). */
  readonly hasProtobuf?: true
}

/** A collection of the API, over all namespaces. */
export type Collection = Listed & {
  readonly kind: Kind
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

/** Annotation of the bookmark after the last initial event of a streamed list (KEP-3157). */
export const INITIAL_END = 'k8s.io/initial-events-end'

/** Options of a watch. */
export type WatchOptions = {
  readonly resourceVersion: string
  /**
   * Sends the present objects first, as events ADDED, then a bookmark with the annotation
   * `k8s.io/initial-events-end` (KEP-3157). Servers without that answer 422.
   */
  readonly sendInitialEvents?: boolean
  /** Called with the bytes of each event, before it is parsed; it may end the watch. */
  readonly onBytes?: (bytes: number) => void
  /** Returns a promise if no further event may be read before it resolves. */
  readonly onEvent: (event: WatchEvent) => unknown
  /** Called once when the response has started. */
  readonly onOpen: () => void
  readonly signal: AbortSignal
}

/** A request about one object. */
export type ApiRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  /** Plural name of its kind, for metrics. */
  readonly resource: string
  /** The object to send. */
  readonly body?: unknown
  /** Media types that the server may answer with; JSON when left out. */
  readonly accept?: string
}

/** An API server. */
export type ObjectApi = {
  /** Its host and port, for metrics. */
  readonly host: string
  /**
   * Reads one page, unless `signal` ends it.
   * @param onBytes called with the bytes of the page, before it is parsed
   * @throws {ApiError}
   */
  readonly list: (
    collection: Listed,
    continueToken: string,
    signal: AbortSignal,
    onBytes?: (bytes: number) => void,
  ) => Promise<ObjectPage>
  /**
   * Watches until the server ends it, the connection is silent for too long, or `signal` ends it.
   * None of these is an error.
   * @throws {ApiError} if the server refuses or is unreachable
   */
  readonly watch: (collection: Listed, options: WatchOptions) => Promise<void>
  /**
   * Sends another request. Resolves with the JSON of the response, or the text of plain text.
   * @throws {ApiError}
   */
  readonly send: (request: ApiRequest, signal: AbortSignal) => Promise<unknown>
}

/** The API server is unreachable, or refuses. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** HTTP status, or `undefined` without a response. */
  readonly status: number | undefined
  /** Milliseconds after which the server wants the next attempt, if it says so (`Retry-After`). */
  readonly retryAfterMs: number | undefined

  constructor(message: string, status?: number, options: ApiErrorOptions = {}) {
    super(message, options)
    this.status = status
    this.retryAfterMs = options.retryAfterMs
  }
}

type ApiErrorOptions = ErrorOptions & { readonly retryAfterMs?: number }

/** HTTP status for a resource version that the server no longer has. */
export const STATUS_GONE = 410
/** HTTP status for a kind that the server does not serve. */
export const STATUS_NOT_FOUND = 404
/** HTTP status for a missing right. */
export const STATUS_FORBIDDEN = 403
/** HTTP status for an object that changed in the meantime. */
export const STATUS_CONFLICT = 409
/** HTTP status for an object or a request that the server does not accept. */
export const STATUS_INVALID = 422
/** HTTP status for too many requests (API Priority and Fairness). */
export const STATUS_TOO_MANY = 429
/** HTTP status for a successful request. */
export const STATUS_OK = 200

/** Describes a collection by the versions of its group, the newest first. */
function collection(
  kind: Kind,
  resource: string,
  group: string,
  ...versions: string[]
): Collection {
  const paths = versions.map((version) => `${group}/${version}/${resource}`)
  const [path = '', ...olderPaths] = paths
  return CORE_GROUPS.includes(group)
    ? { kind, resource, path }
    : { kind, resource, path, olderPaths }
}

function inProtobuf(of: Collection): Collection {
  return { ...of, hasProtobuf: true }
}

const MULTICLUSTER = '/apis/multicluster.x-k8s.io'
/** Both have the same fields (sigs.k8s.io/mcs-api 0.5 stores the first). */
const MCS_VERSIONS = ['v1beta1', 'v1alpha1']
const DISCOVERY = '/apis/discovery.k8s.io'
const NETWORKING = '/apis/networking.k8s.io'
/** Groups that every server has; the others are of custom resources. */
const CORE_GROUPS: readonly string[] = ['/api', DISCOVERY, NETWORKING]

const SERVICES = inProtobuf(collection('Service', 'services', '/api', 'v1'))
const NAMESPACES = inProtobuf(collection('Namespace', 'namespaces', '/api', 'v1'))
const SLICES = inProtobuf(collection('EndpointSlice', 'endpointslices', DISCOVERY, 'v1'))
const IMPORTS = collection('ServiceImport', 'serviceimports', MULTICLUSTER, ...MCS_VERSIONS)
const EXPORTS = collection('ServiceExport', 'serviceexports', MULTICLUSTER, ...MCS_VERSIONS)
const PODS: Collection = {
  ...inProtobuf(collection('Pod', 'pods', '/api', 'v1')),
  fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed,status.phase!=Unknown',
}

/** Returns the collection of a kind of objects with hostnames. */
function hostCollection(kind: HostResource): Collection {
  if (kind === 'Service') return SERVICES
  const { group, resource, versions, labelSelector } = HOST_SOURCES[kind]
  const found = collection(kind, resource, group === '' ? '/api' : `/apis/${group}`, ...versions)
  return { ...found, ...(labelSelector !== undefined && { labelSelector }) }
}

const ROUTES: ReadonlySet<HostResource> = new Set([
  'HTTPRoute',
  'GRPCRoute',
  'TLSRoute',
  'TCPRoute',
  'UDPRoute',
])

/** The part of `NamingOptions` that decides. */
type Named = Pick<NamingOptions, 'pods' | 'hasEndpoints'> & {
  readonly tree:
    | { readonly kind: Exclude<Tree['kind'], 'hosts'> }
    | Pick<SelectedHosts, 'kind' | 'resources' | 'router' | 'hasClusterIPs'>
}

/**
 * Returns the collections that names depend on. There are many Pods, so they are read only for
 * `pods verified`.
 */
export function collectionsFor({ tree, pods, hasEndpoints }: Named): readonly Collection[] {
  if (tree.kind === 'hosts') return hostCollections(tree)
  const collections = [NAMESPACES, SERVICES]
  const isShared = tree.kind === 'multicluster' || tree.kind === 'exports'
  if (tree.kind === 'multicluster') collections.push(IMPORTS)
  if (tree.kind === 'exports') collections.push(EXPORTS)
  if (hasEndpoints || isShared) collections.push(SLICES)
  if (pods === 'verified' && tree.kind !== 'external') collections.push(PODS)
  return collections
}

/**
 * Adds what routes point to, EndpointSlices, to which Services may point, and Services, for their
 * cluster IPs.
 */
function hostCollections({
  resources,
  router,
  hasClusterIPs,
}: Pick<SelectedHosts, 'resources' | 'router' | 'hasClusterIPs'>): Collection[] {
  const kinds = new Set<HostResource>(resources)
  if (resources.some((kind) => ROUTES.has(kind))) kinds.add('Gateway')
  if (resources.includes('HostRoute') && router.kind !== 'addresses') {
    kinds.add(router.kind === 'Gateway' ? 'Gateway' : 'Service')
  }
  if (hasClusterIPs) kinds.add('Service')
  const collections = Array.from(kinds, hostCollection)
  if (resources.includes('Service')) collections.push(SLICES)
  return collections
}

/**
 * Returns how to reach the API server.
 * @param kubeconfig the flag, which overrides the directive; '' for none
 * @param folder base of the directive's relative paths
 */
export function connectionOf(
  directive: KubernetesOptions,
  { kubeconfig, folder }: { readonly kubeconfig: string; readonly folder: string },
): ApiConnection {
  const path = (text: string): string => resolve(folder, text)
  if (kubeconfig !== '') return { kind: 'kubeconfig', path: kubeconfig, context: undefined }
  if (directive.kubeconfig !== undefined) {
    const { context } = directive.kubeconfig
    return { kind: 'kubeconfig', path: path(directive.kubeconfig.path), context }
  }
  const { endpoint, tls } = directive
  if (endpoint === undefined) return { kind: 'default' }
  const files = tls && { cert: path(tls.cert), key: path(tls.key), ca: path(tls.ca) }
  return { kind: 'endpoint', url: endpoint, tls: files }
}

/** Returns the error of an event of type ERROR, which carries a Status (meta/v1). */
export function statusError(object: unknown): ApiError {
  const { code, message } = recordOf(object)
  const status = typeof code === 'number' ? code : undefined
  const text = typeof message === 'string' && message !== '' ? message : 'watch failed'
  return new ApiError(text, status)
}
