/**
 * Signatures among the records of a name.
 * @module
 */
import { readUint16 } from '../../bytes/bytes.ts'
import type { ResourceRecord } from '../../dns/message.ts'
import { TYPE } from '../../dns/rr-type.ts'

/** The type that an RRSIG record signs (RFC 4034 §3.1.1). */
export function coveredType({ rdata }: ResourceRecord): number {
  return readUint16(rdata, 0)
}

/** Lists the records of a type at a name, with their signatures if the client wants them. */
export function recordsOf(
  sets: ReadonlyMap<number, readonly ResourceRecord[]>,
  type: number,
  wantsDnssec: boolean,
): readonly ResourceRecord[] {
  const records = sets.get(type) ?? []
  const signatures = wantsDnssec ? sets.get(TYPE.RRSIG) : undefined
  if (signatures === undefined || type === TYPE.RRSIG || records.length === 0) return records
  return [...records, ...signatures.filter((record) => coveredType(record) === type)]
}
