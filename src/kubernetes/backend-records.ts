/**
 * From backends to records: what a name that leads to some backends answers for A, AAAA, CNAME and
 * SRV.
 * @module
 */
import { parseAddress } from '../dns/address.ts'
import { toLatin1, writeUint16 } from '../dns/bytes.ts'
import { parseName } from '../dns/name.ts'
import { TYPE } from '../dns/rr-type.ts'
import type { Rdata, RecordSet } from '../records/zone-entry.ts'
import type { Port } from './objects.ts'

/** Texts that a list is looked through for rather than a set, which takes longer to make. */
const FEW = 8

/** An address or host together with one of its ports. */
export type Backend = {
  /** Address or, in a slice of type FQDN, host name. */
  readonly host: string
  /** The host's octets when it is an address. */
  readonly address: Uint8Array | undefined
  /** Name that SRV records give for it, relative to the zone. */
  readonly target: Uint8Array
  /** The target as Latin-1 text, for maps. */
  readonly targetKey: string
  /** `undefined` when neither the Service nor the slice lists one. */
  readonly port: Port | undefined
}

/** A name and who may see it. */
export type Place = {
  readonly owner: Uint8Array
  readonly scope: string
  readonly ttlSeconds: number
  /** Priority of SRV records; 0 when left out. */
  readonly priority?: number
}

/** Makes the backends of a host: one for each port, or one without. */
export function backendsOf(host: string, target: Uint8Array, ports: readonly Port[]): Backend[] {
  const address = parseAddress(host)
  const targetKey = toLatin1(target)
  return ports.length === 0
    ? [{ host, address, target, targetKey, port: undefined }]
    : ports.map((port) => ({ host, address, target, targetKey, port }))
}

/** Makes the records at a name that leads to some backends. */
export type RecordsOf = (place: Place, backends: readonly Backend[]) => RecordSet[]

/** Makes the records at a name that leads to `backends`. Hosts that are neither are left out. */
export function backendRecords(place: Place, backends: readonly Backend[]): RecordSet[] {
  const ipv4: Rdata[] = []
  const ipv6: Rdata[] = []
  const aliases: Rdata[] = []
  const isKnown = tellsKnown(backends.length)
  let last = ''
  for (const { host, address } of backends) {
    // The ports of a host come one after the other.
    if (host === last || isKnown(host)) continue
    last = host
    if (address !== undefined) (address.length === 4 ? ipv4 : ipv6).push({ bytes: address })
    else {
      const rdata = aliasRdata(host)
      if (rdata !== undefined) aliases.push(rdata)
    }
  }
  const records: RecordSet[] = []
  addRecords(records, place, { type: TYPE.A, rdata: ipv4 })
  addRecords(records, place, { type: TYPE.AAAA, rdata: ipv6 })
  addRecords(records, place, { type: TYPE.CNAME, rdata: aliases })
  const rdata = serviceRdata(backends, place.priority ?? 0)
  addRecords(records, place, { type: TYPE.SRV, rdata })
  return records
}

function addRecords(
  records: RecordSet[],
  { owner, scope, ttlSeconds }: Place,
  { type, rdata }: Pick<RecordSet, 'type' | 'rdata'>,
): void {
  if (rdata.length > 0) records.push({ kind: 'records', owner, scope, ttlSeconds, type, rdata })
}

/**
 * Each target and port once. The weight splits 100 over all addresses, those without a port and
 * those that fall together included, as CoreDNS does it. Host names get no SRV record.
 */
function serviceRdata(backends: readonly Backend[], priority: number): Rdata[] {
  let count = 0
  for (const { address } of backends) if (address !== undefined) count++
  const weight = shareOf(count)
  const isKnown = tellsKnown(backends.length)
  const numbers = new Map<number, Uint8Array>()
  const rdata: Rdata[] = []
  for (const { address, target, targetKey, port } of backends) {
    if (port?.port === undefined || address === undefined) continue
    if (backends.length > 1 && isKnown(`${port.port}${targetKey}`)) continue
    const bytes = numbers.get(port.port) ?? serviceNumbers({ priority, weight, port: port.port })
    numbers.set(port.port, bytes)
    rdata.push({ bytes, target })
  }
  return rdata
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
