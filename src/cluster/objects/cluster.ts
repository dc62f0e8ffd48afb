/**
 * The objects of a cluster after a list and its watch events, indexed for naming.
 * @module
 */
import { formatAddress, parseAddress } from '../../dns/names/address.ts'
import { parseClientAddress } from '../../dns/names/network.ts'
import type {
  ClusterObject,
  EndpointSlice,
  Kind,
  Namespace,
  Pod,
  Service,
  ServiceExport,
  ServiceImport,
} from './objects.ts'

/** The present objects of a cluster, each once. */
export class Cluster {
  readonly namespaces: Map<string, Namespace> = new Map()
  /** By `namespace/name`, like the maps below. */
  readonly services: Map<string, Service> = new Map()
  readonly slices: Map<string, EndpointSlice> = new Map()
  readonly pods: Map<string, Pod> = new Map()
  readonly imports: Map<string, ServiceImport> = new Map()
  readonly exports: Map<string, ServiceExport> = new Map()
  /** Slices of each Service, which may not exist. */
  private readonly slicesByService = new SliceIndex()
  /** Slices of each ServiceImport, likewise. */
  private readonly slicesByImport = new SliceIndex()
  /** Pods of each namespace, by their key. */
  private readonly podsByNamespace = new Map<string, Map<string, Pod>>()
  /** Running Pods by address, likewise; created at the first use. */
  private podsByAddress: Map<string, Map<string, Pod>> | undefined

  /** Adds or replaces an object. Ignores other kinds. */
  set(object: ClusterObject): void {
    const key = objectKey(object)
    if (object.kind === 'Namespace') this.namespaces.set(object.name, object)
    else if (object.kind === 'Service') this.services.set(key, object)
    else if (object.kind === 'ServiceImport') this.imports.set(key, object)
    else if (object.kind === 'ServiceExport') this.exports.set(key, object)
    else if (object.kind === 'EndpointSlice') {
      this.unlinkSlice(key)
      this.slices.set(key, object)
      this.linkSlice(object)
    } else if (object.kind === 'Pod') {
      this.unlinkPodAddress(key)
      this.pods.set(key, object)
      this.linkPod(key, object)
    }
  }

  /** Removes an object, if it exists. */
  delete(kind: Kind, namespace: string, name: string): void {
    const key = objectKey({ namespace, name })
    if (kind === 'Namespace') this.namespaces.delete(name)
    else if (kind === 'Service') this.services.delete(key)
    else if (kind === 'ServiceImport') this.imports.delete(key)
    else if (kind === 'ServiceExport') this.exports.delete(key)
    else if (kind === 'EndpointSlice') {
      this.unlinkSlice(key)
      this.slices.delete(key)
    } else if (kind === 'Pod') {
      this.unlinkPodAddress(key)
      this.pods.delete(key)
      this.podsByNamespace.get(namespace)?.delete(key)
    }
  }

  /** Returns the Slices of a Service, in the order of their names. */
  slicesOf(service: { readonly namespace: string; readonly name: string }): EndpointSlice[] {
    return this.slicesByService.of(service)
  }

  /** Returns the Slices of a ServiceImport, in the order of their names. */
  importSlicesOf(imported: { readonly namespace: string; readonly name: string }): EndpointSlice[] {
    return this.slicesByImport.of(imported)
  }

  /** Returns the Pods of a namespace. */
  podsIn(namespace: string): Iterable<Pod> {
    return this.podsByNamespace.get(namespace)?.values() ?? []
  }

  /**
   * Finds the Pod that runs at a client's address; if several share it, on their host's network,
   * the first in order.
   */
  podAt(client: string): Pod | undefined {
    if (this.podsByAddress === undefined) {
      this.podsByAddress = new Map()
      for (const [key, pod] of this.pods) this.linkPodAddress(key, pod)
    }
    const address = parseClientAddress(client)
    const pods = address && this.podsByAddress.get(formatAddress(address))
    if (pods === undefined) return undefined
    const [first] = [...pods].sort(([a], [b]) => (a < b ? -1 : 1))
    return first?.[1]
  }

  private linkPodAddress(key: string, pod: Pod): void {
    const address = addressOf(pod)
    if (this.podsByAddress === undefined || address === undefined) return
    const pods = this.podsByAddress.get(address) ?? new Map<string, Pod>()
    this.podsByAddress.set(address, pods.set(key, pod))
  }

  private unlinkPodAddress(key: string): void {
    const pod = this.pods.get(key)
    const address = pod && addressOf(pod)
    if (this.podsByAddress === undefined || address === undefined) return
    const pods = this.podsByAddress.get(address)
    pods?.delete(key)
    if (pods?.size === 0) this.podsByAddress.delete(address)
  }

  private linkPod(key: string, pod: Pod): void {
    this.linkPodAddress(key, pod)
    const pods = this.podsByNamespace.get(pod.namespace) ?? new Map<string, Pod>()
    pods.set(key, pod)
    this.podsByNamespace.set(pod.namespace, pods)
  }

  private linkSlice(slice: EndpointSlice): void {
    this.slicesByService.add(slice.serviceName, slice)
    this.slicesByImport.add(slice.importName, slice)
  }

  private unlinkSlice(key: string): void {
    const slice = this.slices.get(key)
    if (slice === undefined) return
    this.slicesByService.delete(slice.serviceName, slice)
    this.slicesByImport.delete(slice.importName, slice)
  }
}

/** Returns the address of a running Pod, in canonical form. */
function addressOf({ podIP, isGone }: Pod): string | undefined {
  const address = isGone ? undefined : parseAddress(podIP)
  return address && formatAddress(address)
}

/** Slices by their Service or ServiceImport, in the order of their names. */
class SliceIndex {
  /** Arrays: most owners have one slice, for which a map would take four times the memory. */
  private readonly byOwner = new Map<string, EndpointSlice[]>()

  add(name: string, slice: EndpointSlice): void {
    if (name === '') return
    const owner = objectKey({ namespace: slice.namespace, name })
    const slices = this.byOwner.get(owner)
    if (slices === undefined) {
      this.byOwner.set(owner, [slice])
      return
    }
    const at = placeOf(slices, slice)
    slices.splice(at, slices[at]?.name === slice.name ? 1 : 0, slice)
  }

  delete(name: string, slice: EndpointSlice): void {
    const owner = objectKey({ namespace: slice.namespace, name })
    const slices = this.byOwner.get(owner) ?? []
    const at = placeOf(slices, slice)
    if (slices[at]?.name === slice.name) slices.splice(at, 1)
    if (slices.length === 0) this.byOwner.delete(owner)
  }

  of(owner: { readonly namespace: string; readonly name: string }): EndpointSlice[] {
    return [...(this.byOwner.get(objectKey(owner)) ?? [])]
  }
}

/** Returns the index of the first slice whose name is not before that of `slice`. */
function placeOf(slices: readonly EndpointSlice[], { name }: EndpointSlice): number {
  let low = 0
  let high = slices.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((slices[middle]?.name ?? '') < name) low = middle + 1
    else high = middle
  }
  return low
}

/** Returns the key of an object within its kind. Neither part can contain a slash. */
export function objectKey(object: { readonly namespace: string; readonly name: string }): string {
  return `${object.namespace}/${object.name}`
}
