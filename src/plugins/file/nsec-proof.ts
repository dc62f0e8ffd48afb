/**
 * The NSEC records that prove a negative response (RFC 4035 §3.1.3).
 * @module
 */
import { concatBytes } from '../../bytes/bytes.ts'
import type { ResourceRecord } from '../../dns/message.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { findNsec } from './nsec-order.ts'
import { recordsOf } from './signatures.ts'
import type { ZoneData, ZoneNode } from './zone-data.ts'

const ASTERISK = Uint8Array.of(1, 0x2a)

/** Proves that a node has no records of a type, or no DS record. */
export function typeProof({ sets }: ZoneNode): readonly ResourceRecord[] {
  return recordsOf(sets, TYPE.NSEC, true)
}

/** Proves that a name has no records of its own; a wildcard may still match it. */
export function nameProof({ nsecs }: ZoneData, name: Uint8Array): readonly ResourceRecord[] {
  const node = findNsec(nsecs, name)
  return node === undefined ? [] : typeProof(node)
}

/** Proves that neither a name nor a wildcard for it exists. */
export function absenceProof(
  zone: ZoneData,
  name: Uint8Array,
  encloser: Uint8Array,
): readonly ResourceRecord[] {
  const own = findNsec(zone.nsecs, name)
  const wildcard = findNsec(zone.nsecs, concatBytes(ASTERISK, encloser))
  return [...new Set([own, wildcard])].flatMap((node) =>
    node === undefined ? [] : typeProof(node),
  )
}
