/**
 * Records of backends: the A, AAAA, CNAME and SRV records of a name that points to them.
 * @module
 */

import { equalBytes, readUint16, toLatin1, uint16Bytes } from '../../dns/bytes/bytes.ts'
import { parseAddress } from '../../dns/names/address.ts'
import { parseName } from '../../dns/names/name.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import type { Rdata, RRset } from '../../snapshot/records/zone-entry.ts'
import type { Port } from '../objects/objects.ts'

/** Most strings that are searched in a list; a set takes longer to create. */
const FEW = 8
/** A power of two. */
const NUMBERS_KEPT = 1024

/** An address or host together with one of its ports. */
export type Backend = {
  /** Address or, in a slice of type FQDN, hostname. */
  readonly host: string
  /** The host's bytes when it is an address. */
  readonly address: Uint8Array | undefined
  /** Target of its SRV records, relative to the zone. */
  readonly target: Uint8Array
  /** `undefined` if neither the Service nor the slice has one. */
  readonly port: Port | undefined
  /** Whether all backends in its list with this host or target differ only in the port. */
  readonly isAlone: boolean
}

/** The name of records, and the namespace that may see it. */
export type Place = {
  readonly owner: Uint8Array
  readonly namespace: string
  readonly ttlSeconds: number
  /** Priority of SRV records; 0 when left out. */
  readonly priority?: number
}

/** Returns the backends of a host: one for each port, or one without a port. */
export function backendsOf(host: string, target: Uint8Array, ports: readonly Port[]): Backend[] {
  const address = parseAddress(host)
  return ports.length === 0
    ? [{ host, address, target, port: undefined, isAlone: false }]
    : ports.map((port) => ({ host, address, target, port, isAlone: false }))
}

/** Records of a name with backends. */
export type RecordsOf = (place: Place, backends: readonly Backend[]) => RRset[]

/**
 * Returns the records of a name with `backends`. Skips hosts that are neither address nor hostname.
 */
export function backendRecords(place: Place, backends: readonly Backend[]): RRset[] {
  const records: RRset[] = []
  if (isOneHost(backends)) addHost(records, place, backends[0])
  else addHosts(records, place, backends)
  const rdata = serviceRdata(backends, place.priority ?? 0)
  addRecords(records, place, { type: TYPE.SRV, rdata })
  return records
}

/** Returns whether the backends are the ports of one host, as for most endpoint names. */
function isOneHost(backends: readonly Backend[]): boolean {
  for (const { host } of backends) if (host !== backends[0]?.host) return false
  return true
}

function addHost(records: RRset[], place: Place, backend: Backend | undefined): void {
  if (backend === undefined) return
  const { host, address } = backend
  if (address === undefined) {
    const rdata = cnameRdata(host)
    if (rdata !== undefined) addRecords(records, place, { type: TYPE.CNAME, rdata: [rdata] })
    return
  }
  const type = address.length === 4 ? TYPE.A : TYPE.AAAA
  addRecords(records, place, { type, rdata: [{ bytes: address }] })
}

function addHosts(records: RRset[], place: Place, backends: readonly Backend[]): void {
  const ipv4: Rdata[] = []
  const ipv6: Rdata[] = []
  const cnames: Rdata[] = []
  const isKnown = tellsKnown(backends.length)
  let last = ''
  for (const { host, address, isAlone } of backends) {
    // The ports of a host are consecutive.
    if (host === last || (!isAlone && isKnown(host))) continue
    last = host
    if (address !== undefined) (address.length === 4 ? ipv4 : ipv6).push({ bytes: address })
    else {
      const rdata = cnameRdata(host)
      if (rdata !== undefined) cnames.push(rdata)
    }
  }
  addRecords(records, place, { type: TYPE.A, rdata: ipv4 })
  addRecords(records, place, { type: TYPE.AAAA, rdata: ipv6 })
  addRecords(records, place, { type: TYPE.CNAME, rdata: cnames })
}

function addRecords(
  records: RRset[],
  { owner, namespace, ttlSeconds }: Place,
  { type, rdata }: Pick<RRset, 'type' | 'rdata'>,
): void {
  if (rdata.length > 0) records.push({ kind: 'records', owner, namespace, ttlSeconds, type, rdata })
}

/**
 * Returns an SRV record for each target and port. The weight splits 100 over all addresses,
 * including duplicates and those without a port, as in CoreDNS. Hostnames get no SRV record.
 */
function serviceRdata(backends: readonly Backend[], priority: number): Rdata[] {
  let count = 0
  for (const { address } of backends) if (address !== undefined) count++
  const weight = shareOf(count)
  const isKnown = backends.length > FEW ? tellsKnown(backends.length) : undefined
  const ports = new TargetPorts()
  const rdata: Rdata[] = []
  for (let i = 0; i < backends.length; i++) {
    const backend = backends[i]
    if (backend?.port?.port === undefined || backend.address === undefined) continue
    const { target, port, isAlone } = backend
    const isAgain = isAlone
      ? ports.isAgain(target, backend.port.port)
      : isKnown === undefined
        ? hasSameBefore(backends, i)
        : isKnown(`${port.port}${toLatin1(target)}`)
    if (!isAgain) rdata.push({ bytes: sharedNumbers(priority, weight, backend.port.port), target })
  }
  return rdata
}

/** Returns whether an earlier backend than the one at `index` has the same port and target. */
function hasSameBefore(backends: readonly Backend[], index: number): boolean {
  const backend = backends[index]
  if (backend === undefined) return false
  const { target, port } = backend
  for (let i = index - 1; i >= 0; i--) {
    const other = backends[i]
    if (other?.address === undefined || other.port?.port !== port?.port) continue
    if (other.target === target || equalBytes(other.target, target)) return true
  }
  return false
}

/** The ports of one target after the other, of backends that differ in nothing else. */
class TargetPorts {
  private target: Uint8Array | undefined
  private readonly few: number[] = []
  private readonly more = new Set<number>()

  /** Adds a port; returns whether the target has it already. */
  isAgain(target: Uint8Array, port: number): boolean {
    if (target !== this.target) {
      this.target = target
      this.few.length = 0
      if (this.more.size > 0) this.more.clear()
    }
    if (this.few.includes(port) || this.more.has(port)) return true
    if (this.few.length < FEW) this.few.push(port)
    else this.more.add(port)
    return false
  }
}

/** Returns a function that reports whether it got a string before, for at most `count` strings. */
function tellsKnown(count: number): (text: string) => boolean {
  if (count > FEW) {
    const known = new Set<string>()
    return (text) => {
      if (known.has(text)) return true
      known.add(text)
      return false
    }
  }
  const known: string[] = []
  return (text) => {
    if (known.includes(text)) return true
    known.push(text)
    return false
  }
}

/** Returns the weight of each of `count` SRV records; at least 1. */
export function shareOf(count: number): number {
  return Math.max(1, Math.floor(100 / count))
}

/** Cache of SRV numbers, as most records have one of few. */
const madeNumbers: (Uint8Array | undefined)[] = Array.from({ length: NUMBERS_KEPT })

/** Returns what `serviceNumbers` does; several records may share the bytes. */
function sharedNumbers(priority: number, weight: number, port: number): Uint8Array {
  const place = (port ^ (weight << 4)) & (NUMBERS_KEPT - 1)
  const made = madeNumbers[place]
  const isSame =
    made !== undefined &&
    readUint16(made, 0) === priority &&
    readUint16(made, 2) === weight &&
    readUint16(made, 4) === port
  if (isSame) return made
  const bytes = serviceNumbers(priority, weight, port)
  madeNumbers[place] = bytes
  return bytes
}

/** Returns priority, weight and port of an SRV record as rdata. */
export function serviceNumbers(priority: number, weight: number, port: number): Uint8Array {
  return uint16Bytes(priority, weight, port)
}

/**
 * Returns the rdata of a CNAME record; `undefined` if the target is an address or no valid name.
 */
export function cnameRdata(host: string): Rdata | undefined {
  const bytes = parseAddress(host) === undefined ? parseName(host) : undefined
  return bytes && { bytes }
}
