/**
 * How many hostnames an object may have. They are counted, and refused, before the first record is
 * made of them: a few bytes of an object can stand for many records.
 * @module
 */
import type { ClusterObject, HostName, HostObject, Labels, Outside } from './objects.ts'

/** Most hostnames of an object; a long one, or one with much data, counts several times. */
export const HOSTS_MAX = 5000
/** Most bytes of the owners and data of an object's records. */
const RECORD_BYTES_MAX: number = 1024 * 1024
/** Labels of a hostname that count as one: each name above it exists as well. */
const HOST_LABELS = 8
/** Bytes of a hostname's data that count as one hostname. */
const HOST_DATA_BYTES = 1024
/** Bytes of a record beside its name and data: type, class, TTL, length, and a pointer. */
const RECORD_BYTES = 12
/** Annotations of external-dns with hostnames, without their prefix. */
const HOSTNAME_ANNOTATIONS: ReadonlySet<string> = new Set(['hostname', 'internal-hostname'])

/** Counts the hostnames of an object and the bytes of their records, one host after the other. */
export class HostCount {
  private hosts = 0
  private bytes = 0
  private readonly shared = new Set<readonly string[]>()

  /** @param hosts those that are not added one by one */
  constructor(hosts = 0) {
    this.hosts = hosts
  }

  /** Adds a host. Targets that several hosts share count once. */
  add({ name, targets, texts, records = [] }: HostName): void {
    let data = 0
    for (const { length } of texts) data += RECORD_BYTES + length
    for (const { rdata } of records) for (const { length } of rdata) data += RECORD_BYTES + length
    if (!this.shared.has(targets)) {
      for (const { length } of targets) data += RECORD_BYTES + length
      if (targets.length > 1) this.shared.add(targets)
    }
    const labels = labelCount(name)
    this.hosts += Math.max(1, Math.ceil(labels / HOST_LABELS), Math.ceil(data / HOST_DATA_BYTES))
    this.bytes += name.length + data
  }

  /** The hostnames so far. */
  get weight(): number {
    return this.hosts
  }

  /** Why they are too many; `undefined` if they are not. */
  get problem(): string | undefined {
    if (this.hosts > HOSTS_MAX) {
      return `it has more than ${HOSTS_MAX} hostnames, of which long ones count several times`
    }
    if (this.bytes <= RECORD_BYTES_MAX) return undefined
    return `its records take more than ${RECORD_BYTES_MAX} bytes`
  }
}

/** Returns how many hostnames an object has, counted as for its bound; 0 for kinds without. */
export function hostWeight(object: ClusterObject): number {
  switch (object.kind) {
    case 'Namespace':
    case 'EndpointSlice':
    case 'Pod':
    case 'ServiceImport':
    case 'ServiceExport':
      return 0
    case 'Node':
      return object.hostnames.length
    case 'Service':
      return object.outside === undefined ? 0 : outsideWeight(object.outside)
    default:
      return countHosts(object).weight
  }
}

/** Why an object has lost its hostnames. */
const NO_ROOM = 'its namespace has too many hostnames, and older objects have them'

/**
 * Returns an object without its hostnames, because its namespace has too many. A Service keeps the
 * names that it has without annotations.
 */
export function withoutHosts(object: ClusterObject): ClusterObject {
  if (object.kind === 'Service') {
    const { outside } = object
    if (outside === undefined) return object
    const annotations = withoutHostnames(outside.annotations)
    const hostnames = outside.hostnames === undefined ? undefined : []
    return { ...object, outside: { ...outside, annotations, hostnames, problem: NO_ROOM } }
  }
  if (!('hosts' in object)) return object
  const { record, ...rest } = object
  const bare = { ...rest, hosts: [], annotations: withoutHostnames(rest.annotations) }
  if (record === undefined) return { ...bare, problem: NO_ROOM }
  const refusal = record.refusal ?? { reason: 'TooManyHostnames', message: NO_ROOM }
  return { ...bare, record: { ...record, refusal } }
}

/** Returns whether an object has hostnames that it can do without. */
export function canLoseHosts(object: ClusterObject): boolean {
  if (object.kind !== 'Service') return 'hosts' in object && object.namespace !== ''
  const { hostnames, annotations } = object.outside ?? {}
  return hostnames !== undefined || (annotations !== undefined && annotatedHosts(annotations) > 0)
}

function withoutHostnames(annotations: Labels): Labels {
  return new Map([...annotations].filter(([key]) => !isHostnames(key)))
}

/** Returns when an object was created, in milliseconds since 1970; 0 if that is not known. */
export function createdMsOf(object: ClusterObject): number {
  const created = object.kind === 'Service' ? object.outside : object
  return created !== undefined && 'createdMs' in created ? created.createdMs : 0
}

/** Counts the hostnames of an object, with those of its annotations. */
export function countHosts({ hosts, annotations }: HostObject): HostCount {
  const count = new HostCount(annotatedHosts(annotations))
  for (const host of hosts) count.add(host)
  return count
}

/** Returns how many hostnames a Service has, each once for each of its external addresses. */
function outsideWeight({ hostnames, annotations, externalIPs, ingress }: Outside): number {
  const names = Math.max(hostnames?.length ?? 1, annotatedHosts(annotations))
  return names * Math.max(1, externalIPs.length + ingress.length)
}

/** Returns how many hostnames annotations list. */
export function annotatedHosts(annotations: Labels): number {
  let hosts = 0
  for (const [key, value] of annotations) {
    if (isHostnames(key)) hosts += itemCount(value)
  }
  return hosts
}

function isHostnames(annotation: string): boolean {
  return HOSTNAME_ANNOTATIONS.has(annotation.slice(annotation.indexOf('/') + 1))
}

/** Returns how many items a list has that is separated by commas. */
export function itemCount(list: string): number {
  return countOf(list, ',') + 1
}

function labelCount(name: string): number {
  return countOf(name, '.') + 1
}

function countOf(text: string, separator: string): number {
  let count = 0
  for (let at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, at + 1)) count++
  return count
}
