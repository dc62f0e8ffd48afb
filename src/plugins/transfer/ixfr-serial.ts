/**
 * Reads the serial that an IXFR client already has (RFC 1995 §3).
 * @module
 */
import { readUint16 } from '../../bytes/bytes.ts'
import type { Query } from '../../dns/query.ts'
import { readRdata, WireReader } from '../../dns/rdata-wire.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { soaSerial } from '../../dns/soa.ts'

/**
 * Returns the serial of the SOA record in a query's authority section; `undefined` unless it is the
 * only record there.
 */
export function ixfrSerial({ bytes, questionEnd }: Query): number | undefined {
  if (readUint16(bytes, 6) !== 0 || readUint16(bytes, 8) !== 1) return undefined
  const reader = new WireReader(bytes, questionEnd)
  reader.name()
  const type = reader.uint16()
  reader.uint16()
  reader.uint32()
  const rdata = readRdata(reader, type, reader.uint16())
  return type === TYPE.SOA && rdata !== undefined ? soaSerial(rdata) : undefined
}
