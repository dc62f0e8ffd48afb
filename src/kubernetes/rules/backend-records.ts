/**
 * From backends to records: what a name that leads to some backends answers for A, AAAA, CNAME and
 * SRV.
 * @module
 */

import { equalBytes, readUint16, toLatin1, writeUint16 } from '../../bytes/bytes.ts'
import { parseAddress } from '../../dns/address.ts'
import { parseName } from '../../dns/name.ts'
import { TYPE } from '../../dns/rr-type.ts'
import type { Rdata, RRset } from '../../records/zone-entry.ts'
import type { Port } from '../objects/objects.ts'

/** Texts that a list is looked through for rather than a set, which takes longer to make. */
const FEW = 8
/** A power of two. */
const NUMBERS_KEPT = 1024

/** An address or host together with one of its ports. */
export type Backend = {
  /** Address or, in a slice of type FQDN, host name. */
  readonly host: string
  /** The host's bytes when it is an address. */
  readonly address: Uint8Array | undefined
  /** Name that SRV records give for it, relative to the zone. */
  readonly target: Uint8Array
  /** `undefined` when neither the Service nor the slice lists one. */
  readonly port: Port | undefined
  /** Whether what else its list has with this host or this target is the same at other ports. */
  readonly isAlone: boolean
}

/** A name and who may see it. */
export type Place = {
  readonly owner: Uint8Array
  readonly namespace: string
  readonly ttlSeconds: number
  /** Priority of SRV records; 0 when left out. */
  readonly priority?: number
}

/** Makes the backends of a host: one for each port, or one without. */
export function backendsOf(host: string, target: Uint8Array, ports: readonly Port[]): Backend[] {
  const address = parseAddress(host)
  return ports.length === 0
    ? [{ host, address, target, port: undefined, isAlone: false }]
    : ports.map((port) => ({ host, address, target, port, isAlone: false }))
}

/** Makes the records at a name that leads to some backends. */
export type RecordsOf = (place: Place, backends: readonly Backend[]) => RRset[]

/** Makes the records at a name that leads to `backends`. Hosts that are neither are left out. */
export function backendRecords(place: Place, backends: readonly Backend[]): RRset[] {
  const records: RRset[] = []
  if (isOneHost(backends)) addHost(records, place, backends[0])
  else addHosts(records, place, backends)
  const rdata = serviceRdata(backends, place.priority ?? 0)
  addRecords(records, place, { type: TYPE.SRV, rdata })
  return records
}

/** The ports of one host: what most names of endpoints lead to. */
function isOneHost(backends: readonly Backend[]): boolean {
  for (const { host } of backends) if (host !== backends[0]?.host) return false
  return true
}

function addHost(records: RRset[], place: Place, backend: Backend | undefined): void {
  if (backend === undefined) return
  const { host, address } = backend
  if (address === undefined) {
    const rdata = aliasRdata(host)
    if (rdata !== undefined) addRecords(records, place, { type: TYPE.CNAME, rdata: [rdata] })
    return
  }
  const type = address.length === 4 ? TYPE.A : TYPE.AAAA
  addRecords(records, place, { type, rdata: [{ bytes: address }] })
}

function addHosts(records: RRset[], place: Place, backends: readonly Backend[]): void {
  const ipv4: Rdata[] = []
  const ipv6: Rdata[] = []
  const aliases: Rdata[] = []
  const isKnown = tellsKnown(backends.length)
  let last = ''
  for (const { host, address, isAlone } of backends) {
    // The ports of a host come one after the other.
    if (host === last || (!isAlone && isKnown(host))) continue
    last = host
    if (address !== undefined) (address.length === 4 ? ipv4 : ipv6).push({ bytes: address })
    else {
      const rdata = aliasRdata(host)
      if (rdata !== undefined) aliases.push(rdata)
    }
  }
  addRecords(records, place, { type: TYPE.A, rdata: ipv4 })
  addRecords(records, place, { type: TYPE.AAAA, rdata: ipv6 })
  addRecords(records, place, { type: TYPE.CNAME, rdata: aliases })
}

function addRecords(
  records: RRset[],
  { owner, namespace, ttlSeconds }: Place,
  { type, rdata }: Pick<RRset, 'type' | 'rdata'>,
): void {
  if (rdata.length > 0) records.push({ kind: 'records', owner, namespace, ttlSeconds, type, rdata })
}

/**
 * Each target and port once. The weight splits 100 over all addresses, those without a port and
 * those that fall together included, as CoreDNS does it. Host names get no SRV record.
 */
function serviceRdata(backends: readonly Backend[], priority: number): Rdata[] {
  let count = 0
  for (const { address } of backends) if (address !== undefined) count++
  const weight = shareOf(count)
  const isKnown = backends.length > FEW ? tellsKnown(backends.length) : undefined
  const rdata: Rdata[] = []
  for (let i = 0; i < backends.length; i++) {
    const backend = backends[i]
    if (backend?.port?.port === undefined || backend.address === undefined) continue
    const { target, port, isAlone } = backend
    const isAgain =
      isAlone || isKnown === undefined
        ? hasSameBefore(backends, i)
        : isKnown(`${port.port}${toLatin1(target)}`)
    if (!isAgain) rdata.push({ bytes: sharedNumbers(priority, weight, backend.port.port), target })
  }
  return rdata
}

/** Whether a backend before the one at `index` has the same port and target. */
function hasSameBefore(backends: readonly Backend[], index: number): boolean {
  const backend = backends[index]
  if (backend === undefined) return false
  const { target, port, isAlone } = backend
  for (let i = index - 1; i >= 0; i--) {
    const other = backends[i]
    if (isAlone && other?.target !== target) return false
    if (other?.address === undefined || other.port?.port !== port?.port) continue
    if (other.target === target || equalBytes(other.target, target)) return true
  }
  return false
}

/** Makes a function that tells whether a text was given to it before; `count` texts at most. */
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

/** The weight of each of so many SRV records; 1 at least. */
export function shareOf(count: number): number {
  return Math.max(1, Math.floor(100 / count))
}

/** Numbers of SRV records that were made: most records have one of few. */
const madeNumbers: (Uint8Array | undefined)[] = Array.from({ length: NUMBERS_KEPT })

/** As `serviceNumbers`; the bytes may be those of other records as well. */
function sharedNumbers(priority: number, weight: number, port: number): Uint8Array {
  const place = (port ^ (weight << 4)) & (NUMBERS_KEPT - 1)
  const made = madeNumbers[place]
  const isSame =
    made !== undefined &&
    readUint16(made, 0) === priority &&
    readUint16(made, 2) === weight &&
    readUint16(made, 4) === port
  if (isSame) return made
  const bytes = serviceNumbers({ priority, weight, port })
  madeNumbers[place] = bytes
  return bytes
}

/** Makes the numbers that an SRV record's rdata begins with. */
export function serviceNumbers({
  priority,
  weight,
  port,
}: {
  readonly priority: number
  readonly weight: number
  readonly port: number
}): Uint8Array {
  const bytes = new Uint8Array(6)
  writeUint16(bytes, 0, priority)
  writeUint16(bytes, 2, weight)
  writeUint16(bytes, 4, port)
  return bytes
}

/** Rdata of an alias to a host name; `undefined` when that is an address or no name at all. */
export function aliasRdata(host: string): Rdata | undefined {
  const bytes = parseAddress(host) === undefined ? parseName(host) : undefined
  return bytes && { bytes }
}
