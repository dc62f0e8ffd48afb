/**
 * Finds a name within a zone: RFC 1034 §4.3.2, step 3, label by label from the apex down.
 * @module
 */

import { concatBytes } from '../../bytes/bytes.ts'
import { andThen, type MaybePromise } from '../../chain/maybe-promise.ts'
import type { Request } from '../../chain/request.ts'
import { NAME_BYTES_MAX } from '../../dns/limits.ts'
import { equalNames, labelOffsets, nameKey } from '../../dns/name.ts'
import { CLASS } from '../../dns/rr-class.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { followCname } from './cname-chain.ts'
import { authorityOf, NO_RECORDS, type ZoneAnswer } from './sections.ts'
import { recordsOf } from './signatures.ts'
import type { ZoneData, ZoneNode } from './zone-data.ts'

/** The result of a search. */
export type Match =
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
export function findName(zone: ZoneData, name: Uint8Array, type: number): Match {
  const key = nameKey(name)
  const apexAt = name.length - zone.origin.length
  const offsets = [...labelOffsets(name).filter((at) => at < apexAt), apexAt]
  let parentAt: number | undefined
  for (const at of offsets.toReversed()) {
    const node = zone.nodes.get(key.slice(at))
    if (node === undefined) {
      return (
        wildcardBelow(zone, key, parentAt) ?? { kind: 'absent', encloser: name.subarray(parentAt) }
      )
    }
    if (at > 0 && node.sets.has(TYPE.DNAME)) return { kind: 'redirected', node }
    if (node.sets.has(TYPE.NS) && !(at === 0 && type === TYPE.DS)) return { kind: 'cut', node }
    if (at === 0 && node.sets.size > 0) return { kind: 'exact', node }
    if (at > 0) parentAt = at
  }
  return wildcardBelow(zone, key, parentAt) ?? { kind: 'empty' }
}

function wildcardBelow(
  zone: ZoneData,
  key: string,
  parentAt: number | undefined,
): Match | undefined {
  const node = parentAt === undefined ? undefined : zone.nodes.get(`\x01*${key.slice(parentAt)}`)
  return node && { kind: 'wildcard', node }
}

/** Returns the DNAME record, the CNAME synthesized from it, and the records of the target. */
export function redirect(
  zone: ZoneData,
  request: Request,
  { owner, sets }: ZoneNode,
): MaybePromise<ZoneAnswer> {
  const { lowerName: name, type, query } = request
  const { wantsDnssec } = query
  const redirections = recordsOf(sets, TYPE.DNAME, wantsDnssec)
  const [first] = redirections
  if (first === undefined) return { ...NO_RECORDS, kind: 'failure' }
  const target = concatBytes(name.subarray(0, name.length - owner.length), first.rdata)
  if (target.length > NAME_BYTES_MAX) {
    return { ...NO_RECORDS, kind: 'too-long', answer: redirections }
  }
  if (equalNames(target, name)) return { ...NO_RECORDS, kind: 'failure' }
  const { ttlSeconds } = first
  const link = { owner: name, type: TYPE.CNAME, class: CLASS.IN, ttlSeconds, rdata: target }
  if (type === TYPE.CNAME) {
    const authority = authorityOf(zone, wantsDnssec)
    return { ...NO_RECORDS, kind: 'found', answer: [...redirections, link], authority }
  }
  return andThen(followCname(zone, request, { links: [link], proofs: [] }), (found) => ({
    ...found,
    answer: [...redirections, ...found.answer],
  }))
}
