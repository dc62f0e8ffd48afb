/**
 * Hostnames of objects and their targets, as in k8s_gateway (its gateway.go and kubernetes.go):
 *
 * | object | names | point to |
 * |---|---|---|
 * | Ingress, VirtualServer | hosts of its rules | its load balancer |
 * | HTTPRoute, GRPCRoute, TLSRoute | its hostnames | its Gateways |
 * | LoadBalancer Service | an annotation's, else `<name>.<ns>` | `externalIPs`, else its balancer |
 * | Service with `k8s-gateway.dns/resolve-endpoints` | the same | its ready endpoints |
 * | DNSEndpoint | those of its records | their targets |
 * | Node | its hostnames | its addresses of one type |
 * @module
 */
import { concatBytes, EMPTY } from '../../bytes/bytes.ts'
import { parseAddress } from '../../dns/address.ts'
import { parseName } from '../../dns/name.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { CLAIMS_TYPE, hostKey, writeClaim } from '../../records/host-claims.ts'
import type { Rdata, RRset } from '../../records/zone-entry.ts'
import {
  describeObject,
  type EndpointSlice,
  type HostObject,
  type Node,
  type Service,
} from '../objects/objects.ts'
import { backendRecords, backendsOf, cnameRdata, type Place } from './backend-records.ts'
import { externalHosts } from './external-names.ts'

/** An object with hostnames. */
export type Naming = HostObject | Service | Node

/** The targets of a name. */
export type Targets = {
  /** Addresses and hostnames. */
  readonly hosts: readonly string[]
  /** Texts of TXT records. */
  readonly texts: readonly string[]
}

/** A label, and names, by RFC 1123; the first label may be a wildcard. */
const LABEL = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?'
const HOST_NAME = new RegExp(`^(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$`)
/** Most bytes of a character string in TXT rdata (RFC 1035 §3.3). */
const TEXT_BYTES_MAX = 255

/** Lists the hostnames of an object; each is absolute, or below any zone. */
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

/** Returns a warning for each of an object's names that is invalid. */
export function nameProblems(object: Naming): string[] {
  const said = object.kind === 'Service' ? (object.outside?.hostnames ?? []) : saidNames(object)
  const isName = (text: string): boolean =>
    object.kind === 'Service' ? HOST_NAME.test(text) : parseName(text) !== undefined
  return said
    .filter((text) => !isName(text))
    .map((text) => `${describeObject(object)}: "${text}" is not a hostname`)
}

/**
 * Returns the absolute names that a hostname stands for: itself, and itself below each zone. Only
 * the longest matching zone has a name.
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

/** Returns a Service's endpoints if an annotation says so, else its external addresses. */
export function serviceTargets(service: Service, slices: readonly EndpointSlice[]): Targets {
  const { outside } = service
  if (outside === undefined) return { hosts: [], texts: [] }
  if (outside.resolvesEndpoints) {
    const ready = slices.flatMap(({ endpoints }) => endpoints.filter(({ isReady }) => isReady))
    return { hosts: ready.flatMap(({ addresses }) => addresses), texts: [] }
  }
  // `externalIPs`, set by people, have precedence over the load balancer.
  if (outside.externalIPs.length > 0) return { hosts: outside.externalIPs, texts: [] }
  return { hosts: externalHosts(service), texts: [] }
}

/** Returns whether a target is an address or a hostname. */
export function isTarget(host: string): boolean {
  return parseAddress(host) !== undefined || cnameRdata(host) !== undefined
}

/** A claim to a hostname. */
export type HostClaim = Targets & {
  /** The namespace whose viewers may see it; '' for all clients. */
  readonly namespace: string
  /** 0 for the claim that wins, to `CLAIMS_MAX - 1`. */
  readonly rank: number
  /** The objects that claim the name, as text, the winner first. */
  readonly objects: readonly string[]
}

/**
 * Returns the records of an absolute name, at its key; hostnames among its targets become CNAMEs.
 * Returns none without a valid target, or for a name that has no key.
 */
export function hostRecords(name: string, claim: HostClaim, ttlSeconds: number): RRset[] {
  const labels = parseName(name)?.subarray(0, -1)
  const owner = labels && hostKey(labels, claim.rank)
  if (owner === undefined) return []
  const { namespace, objects } = claim
  const place = { owner, namespace, ttlSeconds }
  const records = [
    ...backendRecords(
      place,
      claim.hosts.flatMap((host) => backendsOf(host, EMPTY, [])),
    ),
    ...setOf(place, TYPE.TXT, [...new Set(claim.texts)].flatMap(textRdata)),
  ]
  return records.length === 0
    ? []
    : [...records, ...setOf(place, CLAIMS_TYPE, objects.map(writeClaim))]
}

function setOf(place: Place, type: number, rdata: readonly Rdata[]): RRset[] {
  return rdata.length === 0 ? [] : [{ kind: 'records', ...place, type, rdata }]
}

/** Returns TXT rdata of a text in UTF-8; none if it is too long for a record. */
function textRdata(text: string): Rdata[] {
  const bytes = new TextEncoder().encode(text)
  const parts: Uint8Array[] = []
  for (let at = 0; at < bytes.length || at === 0; at += TEXT_BYTES_MAX) {
    const part = bytes.subarray(at, at + TEXT_BYTES_MAX)
    parts.push(Uint8Array.of(part.length), part)
  }
  const rdata = concatBytes(...parts)
  return rdata.length < 65536 ? [{ bytes: rdata }] : []
}
