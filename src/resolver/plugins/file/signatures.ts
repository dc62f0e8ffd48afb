/**
 * DNSSEC records of a signed zone: signatures and NSEC proofs.
 * @module
 */

import { concatBytes, equalBytes } from '../../../dns/bytes/bytes.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { ResourceRecord } from '../../../dns/wire/message.ts'
import type { ZoneData } from './zone-data.ts'
import { ASTERISK, coveredType, type ZoneNode } from './zone-nodes.ts'

/** Lists the records of a type at a name, with their signatures if the client wants them. */
export function signedRecords(
  sets: ReadonlyMap<number, readonly ResourceRecord[]>,
  type: number,
  wantsDnssec: boolean,
): readonly ResourceRecord[] {
  const records = sets.get(type) ?? []
  const signatures = wantsDnssec ? sets.get(TYPE.RRSIG) : undefined
  if (signatures === undefined || type === TYPE.RRSIG || records.length === 0) return records
  return [...records, ...signatures.filter((record) => coveredType(record) === type)]
}

/** Proves that a node has no records of a type, or no DS record. */
export function typeProof({ sets }: ZoneNode): readonly ResourceRecord[] {
  return signedRecords(sets, TYPE.NSEC, true)
}

/** Proves that a name has no records of its own; a wildcard may still match it. */
export function nameProof({ nsecs }: ZoneData, name: Uint8Array): readonly ResourceRecord[] {
  const node = nsecs.find(name)
  return node === undefined ? [] : typeProof(node)
}

/** Proves that neither a name nor a wildcard for it exists. */
export function absenceProof(
  zone: ZoneData,
  name: Uint8Array,
  encloser: Uint8Array,
): readonly ResourceRecord[] {
  const own = zone.nsecs.find(name)
  const wildcard = zone.nsecs.find(concatBytes(ASTERISK, encloser))
  const isSame = own && wildcard && equalBytes(own.owner, wildcard.owner)
  return [own, isSame ? undefined : wildcard].flatMap((node) =>
    node === undefined ? [] : typeProof(node),
  )
}
