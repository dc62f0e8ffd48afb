/**
 * The objects of a cluster, indexed for naming: what a list and the watch events after it amount
 * to.
 * @module
 */
import type { ClusterObject, EndpointSlice, Kind, Namespace, Pod, Service } from './objects.ts'

/** The present objects of a cluster, each once. */
export class Cluster {
  readonly namespaces: Map<string, Namespace> = new Map()
  /** By `namespace/name`, as the maps below. */
  readonly services: Map<string, Service> = new Map()
  readonly slices: Map<string, EndpointSlice> = new Map()
  readonly pods: Map<string, Pod> = new Map()
  /** Slices of each Service, by its key and their own. A Service need not exist for it. */
  private readonly slicesByService = new Map<string, Map<string, EndpointSlice>>()
  /** Pods of each namespace, by their key. */
  private readonly podsByNamespace = new Map<string, Map<string, Pod>>()

  /** Adds an object or puts it in place of its former self. */
  set(object: ClusterObject): void {
    const key = objectKey(object)
    switch (object.kind) {
      case 'Namespace':
        this.namespaces.set(object.name, object)
        return
      case 'Service':
        this.services.set(key, object)
        return
      case 'EndpointSlice':
        this.unlinkSlice(key)
        this.slices.set(key, object)
        this.linkSlice(key, object)
        return
      case 'Pod':
        this.pods.set(key, object)
        this.linkPod(key, object)
        return
    }
  }

  /** Removes an object, if it is there. */
  delete(kind: Kind, namespace: string, name: string): void {
    const key = objectKey({ namespace, name })
    switch (kind) {
      case 'Namespace':
        this.namespaces.delete(name)
        return
      case 'Service':
        this.services.delete(key)
        return
      case 'EndpointSlice':
        this.unlinkSlice(key)
        this.slices.delete(key)
        return
      case 'Pod':
        this.pods.delete(key)
        this.podsByNamespace.get(namespace)?.delete(key)
        return
    }
  }

  /** Slices of a Service, in the order of their names. */
  slicesOf(service: { readonly namespace: string; readonly name: string }): EndpointSlice[] {
    const slices = this.slicesByService.get(objectKey(service))
    if (slices === undefined) return []
    const listed = [...slices.values()]
    return listed.length === 1 ? listed : listed.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Pods of a namespace. */
  podsIn(namespace: string): Iterable<Pod> {
    return this.podsByNamespace.get(namespace)?.values() ?? []
  }

  private linkPod(key: string, pod: Pod): void {
    const pods = this.podsByNamespace.get(pod.namespace) ?? new Map<string, Pod>()
    pods.set(key, pod)
    this.podsByNamespace.set(pod.namespace, pods)
  }

  private linkSlice(key: string, slice: EndpointSlice): void {
    if (slice.serviceName === '') return
    const serviceKey = objectKey({ namespace: slice.namespace, name: slice.serviceName })
    const slices = this.slicesByService.get(serviceKey) ?? new Map<string, EndpointSlice>()
    slices.set(key, slice)
    this.slicesByService.set(serviceKey, slices)
  }

  private unlinkSlice(key: string): void {
    const slice = this.slices.get(key)
    if (slice === undefined) return
    const serviceKey = objectKey({ namespace: slice.namespace, name: slice.serviceName })
    const slices = this.slicesByService.get(serviceKey)
    slices?.delete(key)
    if (slices?.size === 0) this.slicesByService.delete(serviceKey)
  }
}

/** Key of an object within its kind. Neither part can contain a slash. */
export function objectKey(object: { readonly namespace: string; readonly name: string }): string {
  return `${object.namespace}/${object.name}`
}
