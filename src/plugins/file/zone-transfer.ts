/**
 * All records of a zone, for a transfer (RFC 5936 §2.2, §3).
 * @module
 */
import type { ResourceRecord } from '../../dns/message.ts'
import { isSerialAfter, soaSerial } from '../../dns/soa.ts'
import type { ZoneData } from './zone-data.ts'

/**
 * Lists the records of a zone, the SOA record first and last; only one SOA record if `serial` is no
 * older than the zone's (RFC 1995 §2).
 */
export function* transferRecords(
  zone: ZoneData,
  serial: number | undefined,
): Generator<ResourceRecord> {
  const { soa } = zone
  yield soa
  if (serial !== undefined && !isSerialAfter(soaSerial(soa.rdata), serial)) return
  yield* zone.soaSignatures
  yield* zone.nameservers
  yield* zone.nsSignatures
  for (const { sets } of zone.nodes.values()) for (const set of sets.values()) yield* set
  yield soa
}
