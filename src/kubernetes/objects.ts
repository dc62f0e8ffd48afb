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
}

/** An endpoint within a slice. */
export type Endpoint = {
  /** Addresses, or host names in a slice of type FQDN, as text. */
  readonly addresses: readonly string[]
  /** '' when it has none. */
  readonly hostname: string
  /** Name of the Pod or whatever object it refers to, '' for none. */
  readonly targetName: string
  /** The condition `ready`; one that is not known counts as true. */
  readonly isReady: boolean
}

/** An EndpointSlice. */
export type EndpointSlice = Meta & {
  readonly kind: 'EndpointSlice'
  /** Name of the Service it belongs to (label `kubernetes.io/service-name`), '' for none. */
  readonly serviceName: string
  readonly endpoints: readonly Endpoint[]
  readonly ports: readonly Port[]
}

/** A Pod. */
export type Pod = Meta & {
  readonly kind: 'Pod'
  /** `status.podIP`, '' while it has none. */
  readonly podIP: string
  /** Whether its phase is Succeeded, Failed or Unknown, or it is being deleted. */
  readonly isGone: boolean
}

/** Any object that names come from. */
export type ClusterObject = Namespace | Service | EndpointSlice | Pod

/** Kinds of objects. */
export type Kind = ClusterObject['kind']

/** Names an object for people: `Service shop/web`. */
export function describeObject({ kind, namespace, name }: ClusterObject): string {
  return namespace === '' ? `${kind} ${name}` : `${kind} ${namespace}/${name}`
}
