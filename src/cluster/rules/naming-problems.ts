/**
 * Problems of objects that the API accepts but DNS cannot name, or only in part.
 * @module
 */
import { parseAddress } from '../../dns/names/address.ts'
import { NAME_BYTES_MAX } from '../../dns/names/limits.ts'
import { parseName } from '../../dns/names/name.ts'
import type { ZoneEntry } from '../../snapshot/records/zone-entry.ts'
import { isLabel } from '../objects/labels.ts'
import type { EndpointSlice, Port, Service, ServiceImport } from '../objects/objects.ts'
import type { NamingOptions } from '../objects/options.ts'
import { endpointLabel } from './endpoint-names.ts'
import { fitting, PAIRS_MAX } from './pairs.ts'

/** Returns the problem of a Service; `undefined` if it gets all names. */
export function findServiceProblem(service: Service): string | undefined {
  const { name, namespace, externalName, clusterIPs, ports } = service
  if (!isLabel(name)) return notLabel('its name', name)
  if (!isLabel(namespace)) return notLabel('its namespace', namespace)
  if (service.type === 'ExternalName') return findExternalProblem(externalName)
  if (!service.isHeadless && clusterIPs.length === 0) return 'it has no cluster IP'
  const badIp = clusterIPs.find((ip) => parseAddress(ip) === undefined)
  return badIp === undefined ? findPortProblem(ports) : `cluster IP "${badIp}" is no address`
}

/** Returns the problem of a ServiceImport; `undefined` if it gets all names. */
export function findImportProblem(imported: ServiceImport): string | undefined {
  const { name, namespace, clusterIPs, ports } = imported
  if (!isLabel(name)) return notLabel('its name', name)
  if (!isLabel(namespace)) return notLabel('its namespace', namespace)
  const badIp = clusterIPs.find((ip) => parseAddress(ip) === undefined)
  return badIp === undefined ? findPortProblem(ports) : `address "${badIp}" is no address`
}

/** Returns the problem of a slice; `undefined` if all ready endpoints get names. */
export function findSliceProblem(
  { endpoints, ports }: EndpointSlice,
  usesPodNames: boolean,
): string | undefined {
  for (const endpoint of endpoints.unpack()) {
    if (!endpoint.isReady) continue
    const { addresses, hostname } = endpoint
    if (hostname !== '' && !isLabel(hostname)) return notLabel('hostname', hostname)
    const bad = addresses.find((text) => parseAddress(text) === undefined && !parseName(text))
    if (bad !== undefined) return `"${bad}" is neither an address nor a name`
    const long = addresses.find((text) => !endpointLabel(endpoint, text, usesPodNames))
    if (long !== undefined) return notLabel('an endpoint called after', long)
  }
  return findPortProblem(ports)
}

function findExternalProblem(externalName: string): string | undefined {
  if (parseAddress(externalName) !== undefined) {
    return `externalName "${externalName}" is an address, which a CNAME cannot point to`
  }
  return parseName(externalName) === undefined
    ? `externalName "${externalName}" is not a domain name`
    : undefined
}

/** Returns the problem of an object's ports; `undefined` if all get names. */
export function findPortProblem(ports: readonly Port[]): string | undefined {
  const bad = ports.find(({ name }) => name !== '' && !isLabel(name))
  return bad && notLabel('the name of a port', bad.name)
}

/** Returns the problem of an object with more pairs of an address and a port than get records. */
export function findPairsProblem(ports: readonly Port[], addressCount: number): string | undefined {
  const { length } = fitting(ports, addressCount)
  if (length === ports.length) return undefined
  const given = `${addressCount} addresses with ${ports.length} ports`
  return `${given} are over ${PAIRS_MAX} records: only the first ${length} ports get names`
}

function notLabel(what: string, text: string): string {
  return `${what} "${text}" cannot be a DNS label (1 to 63 letters, digits, "-" and "_")`
}

/** Returns the entries whose names fit below every origin (RFC 1035 §3.1). */
export function keepFitting<Entry extends ZoneEntry>(
  entries: readonly Entry[],
  { origins }: NamingOptions,
): readonly Entry[] {
  let longest = 0
  for (const { length } of origins) longest = Math.max(longest, length)
  const room = NAME_BYTES_MAX - longest
  for (const entry of entries) {
    if (!isFitting(entry, room)) return entries.filter((one) => isFitting(one, room))
  }
  return entries
}

function isFitting(entry: ZoneEntry, room: number): boolean {
  if (entry.kind === 'pointer') return entry.target.length <= room
  if (entry.kind === 'pod-address') return true
  if (entry.owner.length > room) return false
  if (entry.kind !== 'records') return true
  for (const { target } of entry.rdata) {
    if (target !== undefined && target.length > room) return false
  }
  return true
}
