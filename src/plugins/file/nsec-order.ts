/**
 * The names of a signed zone in canonical order, to find the one before a name that does not exist.
 * @module
 */
import { byteAt } from '../../bytes/bytes.ts'
import { labelOffsets, lowerName } from '../../dns/name.ts'
import { TYPE } from '../../dns/rr-type.ts'
import type { ZoneNode } from './zone-data.ts'

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
