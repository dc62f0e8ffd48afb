/**
 * DNSSEC records of a signed zone: signatures, the order of its NSEC records, and NSEC proofs.
 * @module
 */
import { byteAt, concatBytes, readUint16 } from '../../bytes/bytes.ts'
import type { ResourceRecord } from '../../dns/message.ts'
import { labelOffsets, lowerName } from '../../dns/name.ts'
import { TYPE } from '../../dns/rr-type.ts'
import type { ZoneData, ZoneNode } from './zone-data.ts'

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

/** A name with an NSEC record. */
export type NsecEntry = { readonly order: string; readonly node: ZoneNode }

/** Sorts the nodes that have an NSEC record. */
export function sortNsecs(nodes: Iterable<ZoneNode>): NsecEntry[] {
  const nsecs: NsecEntry[] = []
  for (const node of nodes) {
    if (node.sets.has(TYPE.NSEC)) nsecs.push({ order: orderKey(node.owner), node })
  }
  return nsecs.sort((a, b) => compare(a.order, b.order))
}

/**
 * Finds the node whose NSEC record is at a name or covers it: the last that does not come after it.
 */
export function findNsec(nsecs: readonly NsecEntry[], name: Uint8Array): ZoneNode | undefined {
  const wanted = orderKey(name)
  let low = 0
  let high = nsecs.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(nsecs[middle]?.order ?? '', wanted) <= 0) low = middle + 1
    else high = middle
  }
  return nsecs[low - 1]?.node
}

/**
 * Returns a string that sorts as its name does (RFC 4034 §6.1): labels from the right, with one
 * added to each byte, so that the end of a label comes before all bytes.
 */
function orderKey(name: Uint8Array): string {
  const lower = lowerName(name)
  return labelOffsets(lower)
    .reverse()
    .map((at) => {
      const label = lower.subarray(at + 1, at + 1 + byteAt(lower, at))
      return `${String.fromCharCode(...Uint16Array.from(label, (value) => value + 1))}\0`
    })
    .join('')
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

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
