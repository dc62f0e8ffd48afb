/**
 * Cluster objects with only the fields that names need. Kinds and fields are called as in the
 * Kubernetes API (core/v1, discovery.k8s.io/v1).
 * @module
 */
import type { HostResource } from '../../corefile/cluster-tree.ts'
import type { Coverage } from '../../snapshot/records/host-claims.ts'
import type { PackedEndpoints } from './packed-endpoints.ts'

/** Labels of an object. */
export type Labels = ReadonlyMap<string, string>

/** Fields of every object. */
type Meta = {
  /** '' for a Namespace, which is in none. */
  readonly namespace: string
  readonly name: string
  readonly labels: Labels
}

/** The creation of an object. */
type Created = {
  /** Milliseconds since 1970; 0 if the object does not say. */
  readonly createdMs: number
  /** Absent in files. */
  readonly uid?: string
}

/** A Namespace. */
export type Namespace = Meta & { readonly kind: 'Namespace' }

/** A port of a Service or of an EndpointSlice. */
export type Port = {
  /** '' when it has none. */
  readonly name: string
  /** TCP, UDP or SCTP. */
  readonly protocol: string
  /** 1 to 65535; `undefined` if a slice does not say. */
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
  /** Hostname of an ExternalName Service, else ''. */
  readonly externalName: string
  readonly ports: readonly Port[]
  /** `undefined` for the many that are reachable only inside the cluster. */
  readonly outside: Outside | undefined
}

/** How to reach a Service from outside the cluster. */
export type Outside = Created & {
  readonly isLoadBalancer: boolean
  /** Addresses as text, set by people (`spec.externalIPs`). */
  readonly externalIPs: readonly string[]
  /** Addresses of its load balancer (`status.loadBalancer.ingress`); '' for missing fields. */
  readonly ingress: readonly { readonly ip: string; readonly hostname: string }[]
  /** Whether clients inside the cluster, too, need the load balancer (`ipMode: Proxy`). */
  readonly isProxied: boolean
  /** Hostnames from annotations, in lower case; `undefined` without an annotation. */
  readonly hostnames: readonly string[] | undefined
  /** Whether its hostnames point to its endpoints, by an annotation. */
  readonly resolvesEndpoints: boolean
  /** The ports at which each Node forwards to it (type NodePort); `undefined` for other types. */
  readonly nodePorts: readonly Pick<Port, 'protocol' | 'port'>[] | undefined
  /** The annotations that external-dns knows, by their whole names. */
  readonly annotations: Labels
  /** Its ports that say by `appProtocol` what HTTPS and SVCB records describe. */
  readonly securePorts: readonly SecurePort[]
  /** Why its annotations give it no hostnames, for a warning. */
  readonly problem?: string
}

/** A port of a service that HTTPS or SVCB records describe (RFC 9460, RFC 9461). */
export type SecurePort = {
  readonly service: 'https' | 'dns'
  readonly protocol: 'TCP' | 'UDP'
  /** 1 to 65535. */
  readonly port: number
}

/** A listener of a Gateway with the protocol HTTPS, or a host of an Ingress with TLS. */
export type GatewayListener = {
  readonly name: string
  /** 1 to 65535. */
  readonly port: number
  /** In lower case, '' for any; the first label may be `*`. */
  readonly hostname: string
  /** The kinds of routes that it takes. */
  readonly kinds: readonly string[]
  /** Whether it takes routes of the Gateway's own namespace only. */
  readonly isPrivate: boolean
}

/** A Gateway that a route is attached to. */
export type ParentGateway = {
  /** `namespace/name`. */
  readonly key: string
  /** The name of the listener, '' for any. */
  readonly listener: string
  /** The port of the listener; `undefined` for any. */
  readonly port: number | undefined
}

/** A Service of several clusters (MCS-API, multicluster.x-k8s.io). */
export type ServiceImport = Meta & {
  readonly kind: 'ServiceImport'
  readonly isHeadless: boolean
  /** Addresses as text; none for headless ones. */
  readonly clusterIPs: readonly string[]
  readonly ports: readonly Port[]
}

/** Exports the Service of the same name to other clusters (MCS-API). */
export type ServiceExport = Meta & { readonly kind: 'ServiceExport' }

/** An EndpointSlice. */
export type EndpointSlice = Meta & {
  readonly kind: 'EndpointSlice'
  /** Name of the Service it belongs to (label `kubernetes.io/service-name`), '' for none. */
  readonly serviceName: string
  /** Name of the ServiceImport that it belongs to, '' for none. */
  readonly importName: string
  readonly endpoints: PackedEndpoints
  readonly ports: readonly Port[]
  /**
   * When its last change was triggered, in milliseconds since 1970, from the control plane's
   * annotation; 0 without it.
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

/** Records of one type at a hostname. */
export type HostRecords = {
  readonly type: number
  readonly rdata: readonly Uint8Array[]
}

/** An HTTPS or SVCB record that describes how to reach a hostname (RFC 9460 §2.4.3). */
export type Binding = {
  readonly type: number
  /** Labels of its name before those of the hostname, which is the target. */
  readonly prefixLabels: number
  /** Parameters in wire format. */
  readonly params: Uint8Array
}

/** A name in an object, and its targets. */
export type HostName = {
  /** As the object has it, in lower case; the first label may be `*`. */
  readonly name: string
  /** Addresses and hostnames. */
  readonly targets: readonly string[]
  /** Texts of TXT records. */
  readonly texts: readonly string[]
  /** Records of other types. */
  readonly records?: readonly HostRecords[]
  readonly bindings?: readonly Binding[]
  /** TTL of all of these; that of the directive when absent. */
  readonly ttlSeconds?: number
  /** What is wrong with it, for a warning. */
  readonly problems?: readonly string[]
  /** Whether the name is never relative to the zones. */
  readonly isAbsolute?: boolean
  /** Whether its hostname is a CNAME that holds for all types, and not only for addresses. */
  readonly isAlias?: true
  /** How far a wildcard reaches; `zone` when absent. */
  readonly coverage?: Coverage
}

/** An object with hostnames and where they point. */
export type HostObject = Meta &
  Created & {
    readonly kind: HostKind
    /** Class of an Ingress or a Gateway, '' for none. */
    readonly className: string
    /** Addresses and hostnames of a Gateway itself, or of the load balancer of an Ingress. */
    readonly targets: readonly string[]
    readonly hosts: readonly HostName[]
    /** Parent Gateways of a route: its hostnames point to them. */
    readonly gateways: readonly ParentGateway[]
    /** Those with the protocol HTTPS of a Gateway; the hosts in `spec.tls` of an Ingress. */
    readonly listeners: readonly GatewayListener[]
    /** The annotations that external-dns knows, by their whole names. */
    readonly annotations: Labels
    /** Present if it is a DNSRecord or a HostRoute. */
    readonly record?: RecordFacts
    /** What a router proxies to; present if it is a HostRoute. */
    readonly paths?: readonly RoutedPath[]
    /** Why it has no hosts, for a warning; a DNSRecord or a HostRoute has a refusal instead. */
    readonly problem?: string
  }

/** A path of a HostRoute. */
export type RoutedPath = {
  /** `/`, or without a final slash. */
  readonly path: string
  /** Name of a Service of the namespace. */
  readonly service: string
  readonly port: number
}

/** Why a DNSRecord or a HostRoute has no name, or a router does not take a HostRoute. */
export type HostRefusal = {
  readonly reason:
    | 'InvalidValue'
    | 'NameTooLong'
    | 'OutsideAllowedZones'
    | 'Conflict'
    | 'CNAMEBesideOtherData'
    | 'RouterHasNoAddress'
    | 'PathConflict'
    | 'ServiceNotFound'
    | 'ServiceHasNoAddress'
    | 'PortNotFound'
    | 'TooManyRoutes'
    | 'TooManyHostnames'
    | 'ConfigurationRefused'
  readonly message: string
}

/** A condition in the status of a DNSRecord or a HostRoute. */
export type RecordCondition = {
  readonly type: string
  readonly status: string
  /** One word in CamelCase. */
  readonly reason: string
  readonly message: string
  /** When the status last changed (RFC 3339). */
  readonly lastTransitionTime: string
  readonly observedGeneration: number
}

/** What a DNSRecord or a HostRoute has beside its hostname. */
export type RecordFacts = {
  readonly isCname: boolean
  /** What is wrong with the object itself, which has no hosts then. */
  readonly refusal: HostRefusal | undefined
  readonly generation: number
  readonly resourceVersion: string
  readonly conditions: readonly RecordCondition[]
}

/** Kinds of objects with hostnames. */
export type HostKind = Exclude<HostResource, 'Service' | 'Node'>

/** A Node. */
export type NodeObject = Meta &
  Created & {
    readonly kind: 'Node'
    /** In lower case. */
    readonly hostnames: readonly string[]
    readonly internalIPs: readonly string[]
    readonly externalIPs: readonly string[]
  }

/** Any object that gives names. */
export type ClusterObject =
  | Namespace
  | Service
  | EndpointSlice
  | Pod
  | ServiceImport
  | ServiceExport
  | HostObject
  | NodeObject

/** Kinds of objects. */
export type Kind = ClusterObject['kind']

/** Describes an object in messages: `Service shop/web`. */
export function describeObject({ kind, namespace, name }: ClusterObject): string {
  return namespace === '' ? `${kind} ${name}` : `${kind} ${namespace}/${name}`
}
