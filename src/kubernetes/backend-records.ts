/**
 * From backends to records: what a name that leads to some backends answers for A, AAAA, CNAME and
 * SRV.
 * @module
 */
import { parseAddress } from '../dns/address.ts'
import { concatBytes, toLatin1, writeUint16 } from '../dns/bytes.ts'
import { parseName } from '../dns/name.ts'
import { TYPE } from '../dns/rr-type.ts'
import type { Rdata, RecordSet } from '../records/zone-entry.ts'
import type { Port } from './objects.ts'

/** An address or host together with one of its ports. */
export type Backend = {
  /** Address or, in a slice of type FQDN, host name. */
  readonly host: string
  /** Name that SRV records give for it, relative to the zone. */
  readonly target: Uint8Array
  /** `undefined` when neither the Service nor the slice lists one. */
  readonly port: Port | undefined
}

/** A name and who may see it. */
export type Place = {
  readonly owner: Uint8Array
  readonly scope: string
  readonly ttlSeconds: number
}

/** Makes the records at a name that leads to `backends`. Hosts that are neither are left out. */
export function backendRecords(place: Place, backends: readonly Backend[]): RecordSet[] {
  const hosts = new Set(backends.map(({ host }) => host))
  const sets = new Map<number, Rdata[]>()
  for (const host of hosts) {
    const [type, bytes] = hostRdata(host)
    if (bytes === undefined) continue
    const rdata = sets.get(type)
    if (rdata === undefined) sets.set(type, [{ bytes }])
    else rdata.push({ bytes })
  }
  const services = serviceRdata(backends)
  if (services.length > 0) sets.set(TYPE.SRV, services)
  return [...sets].map(([type, rdata]) => ({ kind: 'records', ...place, type, rdata }))
}

function hostRdata(host: string): [type: number, bytes: Uint8Array | undefined] {
  const address = parseAddress(host)
  if (address !== undefined) return [address.length === 4 ? TYPE.A : TYPE.AAAA, address]
  return [TYPE.CNAME, parseName(host)]
}

/**
 * Each target and port once. The weight splits 100 over all backends, those without a port and
 * those that fall together included, as CoreDNS does it; it is 1 at least. Host names get no SRV
 * record.
 */
function serviceRdata(backends: readonly Backend[]): Rdata[] {
  const weight = Math.max(1, Math.floor(100 / backends.length))
  const unique = new Map<string, Rdata>()
  for (const { host, target, port } of backends) {
    if (port?.port === undefined || parseAddress(host) === undefined) continue
    const bytes = new Uint8Array(6)
    writeUint16(bytes, 2, weight)
    writeUint16(bytes, 4, port.port)
    unique.set(toLatin1(concatBytes(bytes, target)), { bytes, target })
  }
  return [...unique.values()]
}

/** Rdata of an alias to a host name; `undefined` when that is an address or no name at all. */
export function aliasRdata(host: string): Rdata | undefined {
  const bytes = parseAddress(host) === undefined ? parseName(host) : undefined
  return bytes && { bytes }
}
