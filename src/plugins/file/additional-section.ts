/**
 * Addresses for the additional section: of targets of records (RFC 1034 §4.3.2, step 6; RFC 2782;
 * RFC 9460 §4.1), and glue of delegations.
 * @module
 */
import type { ResourceRecord } from '../../dns/message.ts'
import { isSubdomain, nameKey } from '../../dns/name.ts'
import { nameEnd } from '../../dns/rdata-wire.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { recordsOf } from './signatures.ts'
import type { ZoneData } from './zone-data.ts'

/** Lists the addresses of the records' targets within the zone, each target once. */
export function additionalAddresses(
  zone: ZoneData,
  records: readonly ResourceRecord[],
  wantsDnssec: boolean,
): ResourceRecord[] {
  const hosts = new Set<string>()
  for (const record of records) {
    const host = hostOf(record)
    if (host !== undefined && isSubdomain(host, zone.origin)) hosts.add(nameKey(host))
  }
  return [...hosts].flatMap((host) => addressesOf(zone, host, wantsDnssec))
}

/** Lists the addresses of name servers within the zone that they serve. */
export function glueOf(
  zone: ZoneData,
  nameservers: readonly ResourceRecord[],
  wantsDnssec: boolean,
): ResourceRecord[] {
  return nameservers.flatMap(({ type, owner, rdata }) =>
    type === TYPE.NS && isSubdomain(rdata, owner)
      ? addressesOf(zone, nameKey(rdata), wantsDnssec)
      : [],
  )
}

function addressesOf(zone: ZoneData, host: string, wantsDnssec: boolean): ResourceRecord[] {
  const sets = zone.nodes.get(host)?.sets
  if (sets === undefined) return []
  return [TYPE.A, TYPE.AAAA].flatMap((type) => [...recordsOf(sets, type, wantsDnssec)])
}

function hostOf({ type, rdata }: ResourceRecord): Uint8Array | undefined {
  switch (type) {
    case TYPE.SRV:
      return rdata.subarray(6)
    case TYPE.MX:
      return rdata.subarray(2)
    case TYPE.SVCB:
    case TYPE.HTTPS:
      return rdata.subarray(2, nameEnd(rdata, 2))
    default:
      return undefined
  }
}
