/**
 * Finds a name within a zone: RFC 1034 §4.3.2, step 3, label by label from the apex down.
 * @module
 */
import { concatBytes } from '../../../dns/bytes/bytes.ts'
import { labelOffsets, lowerName } from '../../../dns/names/name.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { ZoneData } from './zone-data.ts'
import { ASTERISK, type ZoneNode } from './zone-nodes.ts'

/** The result of a search. */
export type ZoneMatch =
  /** The name has records. */
  | { readonly kind: 'exact'; readonly node: ZoneNode }
  /** It is at or below a zone cut, which is at the node. */
  | { readonly kind: 'cut'; readonly node: ZoneNode }
  /** It is below the node, which has a DNAME record. */
  | { readonly kind: 'redirected'; readonly node: ZoneNode }
  /** A wildcard matches it, possibly one without records. */
  | { readonly kind: 'wildcard'; readonly node: ZoneNode }
  /** It exists because names below it do, or because it is the apex. */
  | { readonly kind: 'empty' }
  /** It does not exist; the encloser is the closest name above it that does. */
  | { readonly kind: 'absent'; readonly encloser: Uint8Array }

/**
 * Finds a name within a zone. DS records at a cut belong to the zone above it (RFC 4035 §3.1.4.1).
 * As in CoreDNS, and against RFC 4592 §2.2.2, a wildcard also matches an empty non-terminal.
 */
export function findZoneName(zone: ZoneData, sent: Uint8Array, type: number): ZoneMatch {
  const name = lowerName(sent)
  const apexAt = name.length - zone.origin.length
  const offsets = [...labelOffsets(name).filter((at) => at < apexAt), apexAt]
  let parentAt: number | undefined
  for (const at of offsets.toReversed()) {
    const node = zone.nodes.get(name.subarray(at))
    if (node === undefined) {
      return (
        wildcardBelow(zone, name, parentAt) ?? { kind: 'absent', encloser: name.subarray(parentAt) }
      )
    }
    if (at > 0 && node.sets.has(TYPE.DNAME)) return { kind: 'redirected', node }
    if (node.sets.has(TYPE.NS) && !(at === 0 && type === TYPE.DS)) return { kind: 'cut', node }
    if (at === 0 && node.sets.size > 0) return { kind: 'exact', node }
    if (at > 0) parentAt = at
  }
  return wildcardBelow(zone, name, parentAt) ?? { kind: 'empty' }
}

function wildcardBelow(
  zone: ZoneData,
  name: Uint8Array,
  parentAt: number | undefined,
): ZoneMatch | undefined {
  if (parentAt === undefined) return undefined
  const node = zone.nodes.get(concatBytes(ASTERISK, name.subarray(parentAt)))
  return node && { kind: 'wildcard', node }
}
