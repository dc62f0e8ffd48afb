/**
 * Host names that objects say, and where these lead, as k8s_gateway has it (its gateway.go and
 * kubernetes.go):
 *
 * | object | names | lead to |
 * |---|---|---|
 * | Ingress, VirtualServer | hosts of its rules | where its load balancer is |
 * | HTTPRoute, GRPCRoute, TLSRoute | its host names | where its Gateways are |
 * | LoadBalancer Service | an annotation's, else `<name>.<ns>` | `externalIPs`, else its balancer |
 * | Service with `k8s-gateway.dns/resolve-endpoints` | the same | its ready endpoints |
 * | DNSEndpoint | those of its records | what these say |
 * | Node | its host names | its addresses of one type |
 * @module
 */
import { concatBytes, EMPTY } from '../../bytes/bytes.ts'
import { parseName } from '../../dns/name.ts'
import { TYPE } from '../../dns/rr-type.ts'
import type { Rdata, ZoneEntry } from '../../records/zone-entry.ts'
import {
  describeObject,
  type EndpointSlice,
  type HostObject,
  type Node,
  type Service,
} from '../objects/objects.ts'
import { backendRecords, backendsOf } from './backend-records.ts'
import { outsideHosts } from './external-names.ts'

/** An object that says host names. */
export type Naming = HostObject | Service | Node

/** What a name leads to. */
export type Targets = {
  /** Addresses and host names. */
  readonly hosts: readonly string[]
  /** Texts of TXT records. */
  readonly texts: readonly string[]
}

/** A label, and names of them, as RFC 1123 has them; the first may be a wildcard. */
const LABEL = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?'
const HOST_NAME = new RegExp(`^(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$`)
/** Bytes of one of the texts that TXT data is made of (RFC 1035 §3.3). */
const TEXT_BYTES_MAX = 255

/** Lists the names that an object says; each is a whole one, or below any zone. */
export function saidNames(object: Naming): readonly string[] {
  switch (object.kind) {
    case 'Node':
      return object.hostnames
    case 'Service':
      return serviceNames(object)
    default:
      return object.hosts.map(({ name }) => name)
  }
}

function serviceNames({ outside, name, namespace }: Service): readonly string[] {
  if (outside === undefined) return []
  const { isLoadBalancer, resolvesEndpoints, hostnames } = outside
  if (!isLoadBalancer && !resolvesEndpoints) return []
  return hostnames?.filter((host) => HOST_NAME.test(host)) ?? [`${name}.${namespace}`]
}

/** Tells which of an object's names are none, one line each. */
export function nameProblems(object: Naming): string[] {
  const said = object.kind === 'Service' ? (object.outside?.hostnames ?? []) : saidNames(object)
  const isName = (text: string): boolean =>
    object.kind === 'Service' ? HOST_NAME.test(text) : parseName(text) !== undefined
  return said
    .filter((text) => !isName(text))
    .map((text) => `${describeObject(object)}: "${text}" is not a host name`)
}

/**
 * Finds the absolute names that a name stands for: itself, and itself below each zone. A name is in
 * the longest of the zones only.
 * @param zones in lower case, without the final dot; '' for the root
 */
export function absoluteNames(said: string, zones: readonly string[]): Set<string> {
  const names = new Set<string>()
  if (zones.some((zone) => isWithin(said, zone))) names.add(said)
  for (const zone of zones) {
    const below = zone === '' ? said : `${said}.${zone}`
    const isHere = !zones.some((other) => other.length > zone.length && isWithin(below, other))
    if (isHere) names.add(below)
  }
  return names
}

function isWithin(name: string, zone: string): boolean {
  return zone === '' || name === zone || name.endsWith(`.${zone}`)
}

/** Where a Service leads: to its endpoints if it asks for it, else to what it has outside. */
export function serviceTargets(service: Service, slices: readonly EndpointSlice[]): Targets {
  const { outside } = service
  if (outside === undefined) return { hosts: [], texts: [] }
  if (outside.resolvesEndpoints) {
    const ready = slices.flatMap(({ endpoints }) => endpoints.filter(({ isReady }) => isReady))
    return { hosts: ready.flatMap(({ addresses }) => addresses), texts: [] }
  }
  // What people say counts before what the load balancer says.
  if (outside.externalIPs.length > 0) return { hosts: outside.externalIPs, texts: [] }
  return { hosts: outsideHosts(service), texts: [] }
}

/** Makes the records of an absolute name; host names among its targets become aliases. */
export function hostRecords(
  name: string,
  { hosts, texts }: Targets,
  ttlSeconds: number,
): ZoneEntry[] {
  const owner = parseName(name)?.subarray(0, -1)
  if (owner === undefined) return []
  const place = { owner, namespace: '', ttlSeconds }
  const records: ZoneEntry[] = backendRecords(
    place,
    hosts.flatMap((host) => backendsOf(host, EMPTY, [])),
  )
  const rdata = [...new Set(texts)].flatMap(textRdata)
  if (rdata.length > 0) records.push({ kind: 'records', ...place, type: TYPE.TXT, rdata })
  return records
}

/** TXT data of a text, in UTF-8; none for one that is too long for a record. */
function textRdata(text: string): Rdata[] {
  const octets = new TextEncoder().encode(text)
  const parts: Uint8Array[] = []
  for (let at = 0; at < octets.length || at === 0; at += TEXT_BYTES_MAX) {
    const part = octets.subarray(at, at + TEXT_BYTES_MAX)
    parts.push(Uint8Array.of(part.length), part)
  }
  const bytes = concatBytes(...parts)
  return bytes.length < 65536 ? [{ bytes }] : []
}
