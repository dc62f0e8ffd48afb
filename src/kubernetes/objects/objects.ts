/**
 * Cluster objects, cut down to what their names need. The names of kinds and fields are the
 * Kubernetes API's own (core/v1, discovery.k8s.io/v1).
 * @module
 */

/** Labels of an object. */
export type Labels = ReadonlyMap<string, string>

/** What all objects have. */
type Meta = {
  /** '' for a Namespace, which is in none. */
  readonly namespace: string
  readonly name: string
  readonly labels: Labels
}

/** A Namespace. */
export type Namespace = Meta & { readonly kind: 'Namespace' }

/** A port of a Service or of an EndpointSlice. */
export type Port = {
  /** '' when it has none. */
  readonly name: string
  /** TCP, UDP or SCTP. */
  readonly protocol: string
  /** 1 to 65535, or `undefined` when a slice leaves it open. */
  readonly port: number | undefined
}

/** A Service. */
export type Service = Meta & {
  readonly kind: 'Service'
  readonly type: 'ClusterIP' | 'ExternalName'
  /** Whether it has no cluster IP on purpose (`clusterIP: None`). */
  readonly isHeadless: boolean
  /** Addresses as text; none for headless and ExternalName ones. */
  readonly clusterIPs: readonly string[]
  /** Host name that an ExternalName Service stands for, else ''. */
  readonly externalName: string
  readonly ports: readonly Port[]
  /** `undefined` for the many that are reached from inside only. */
  readonly outside: Outside | undefined
}

/** How a Service is reached from outside of its cluster. */
export type Outside = {
  readonly isLoadBalancer: boolean
  /** Addresses as text, set by people (`spec.externalIPs`). */
  readonly externalIPs: readonly string[]
  /** What its load balancer is at (`status.loadBalancer.ingress`); '' for what there is not. */
  readonly ingress: readonly { readonly ip: string; readonly hostname: string }[]
  /** Host names from annotations, in lower case; `undefined` without an annotation. */
  readonly hostnames: readonly string[] | undefined
  /** Whether its host names lead to its endpoints, as an annotation asks. */
  readonly resolvesEndpoints: boolean
}

/** A Service that several clusters have together (MCS-API, multicluster.x-k8s.io). */
export type ServiceImport = Meta & {
  readonly kind: 'ServiceImport'
  readonly isHeadless: boolean
  /** Addresses as text; none for headless ones. */
  readonly clusterIPs: readonly string[]
  readonly ports: readonly Port[]
}

/** That a Service is for other clusters as well (MCS-API): the one of the same name. */
export type ServiceExport = Meta & { readonly kind: 'ServiceExport' }

/** An endpoint within a slice. */
export type Endpoint = {
  /** Addresses, or host names in a slice of type FQDN, as text. */
  readonly addresses: readonly string[]
  /** '' when it has none. */
  readonly hostname: string
  /** Name of the Pod or whatever object it refers to, '' for none. */
  readonly targetName: string
  /** Topology zone that it is in, in lower case; '' for none. */
  readonly zone: string
  /** The condition `ready`; one that is not known counts as true. */
  readonly isReady: boolean
}

/** An EndpointSlice. */
export type EndpointSlice = Meta & {
  readonly kind: 'EndpointSlice'
  /** Name of the Service it belongs to (label `kubernetes.io/service-name`), '' for none. */
  readonly serviceName: string
  /** Name of the ServiceImport that it belongs to, '' for none. */
  readonly importName: string
  readonly endpoints: readonly Endpoint[]
  readonly ports: readonly Port[]
  /**
   * When what led to its last change happened, in milliseconds since 1970, as the control plane
   * says; 0 when it does not.
   */
  readonly triggeredMs: number
}

/** A Pod. */
export type Pod = Meta & {
  readonly kind: 'Pod'
  /** `status.podIP`, '' while it has none. */
  readonly podIP: string
  /** Whether its phase is Succeeded, Failed or Unknown, or it is being deleted. */
  readonly isGone: boolean
}

/** A Gateway (Gateway API). */
export type Gateway = Meta & {
  readonly kind: 'Gateway'
  readonly className: string
  /** Addresses and host names that it is at. */
  readonly targets: readonly string[]
}

/** A name that an object gives, and what it leads to. */
export type Host = {
  /** As the object has it, in lower case; the first label may be `*`. */
  readonly name: string
  /** Addresses and host names. */
  readonly targets: readonly string[]
  /** Texts of TXT records. */
  readonly texts: readonly string[]
}

/** An object that says under which host names something is reached. */
export type HostObject = Meta & {
  readonly kind: HostKind
  /** Class of an Ingress, '' for none. */
  readonly className: string
  readonly hosts: readonly Host[]
  /** Gateways that a route hangs on, as `namespace/name`: its host names lead to them. */
  readonly gateways: readonly string[]
}

/** Kinds of objects that say host names. */
export type HostKind =
  | 'Ingress'
  | 'HTTPRoute'
  | 'GRPCRoute'
  | 'TLSRoute'
  | 'VirtualServer'
  | 'DNSEndpoint'

/** A Node. */
export type Node = Meta & {
  readonly kind: 'Node'
  /** In lower case. */
  readonly hostnames: readonly string[]
  readonly internalIPs: readonly string[]
  readonly externalIPs: readonly string[]
}

/** Any object that names come from. */
export type ClusterObject =
  | Namespace
  | Service
  | EndpointSlice
  | Pod
  | ServiceImport
  | ServiceExport
  | Gateway
  | HostObject
  | Node

/** Kinds of objects. */
export type Kind = ClusterObject['kind']

/** Names an object for people: `Service shop/web`. */
export function describeObject({ kind, namespace, name }: ClusterObject): string {
  return namespace === '' ? `${kind} ${name}` : `${kind} ${namespace}/${name}`
}
