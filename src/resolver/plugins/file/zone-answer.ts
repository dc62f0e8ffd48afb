/**
 * Answers questions from a zone by RFC 1034 §4.3.2 and RFC 4592, in CoreDNS's form.
 * @module
 */

import { concatBytes } from '../../../dns/bytes/bytes.ts'
import { NAME_BYTES_MAX } from '../../../dns/names/limits.ts'
import { equalNames } from '../../../dns/names/name.ts'
import { CLASS } from '../../../dns/names/rr-class.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { ResourceRecord } from '../../../dns/wire/message.ts'
import { andThen, type MaybePromise } from '../../contract/maybe-promise.ts'
import type { Request } from '../../contract/request.ts'
import type { Rules } from '../kubernetes/nxdomain-rules.ts'
import { followCname } from './cname-chain.ts'
import { findZoneName, type ZoneMatch } from './find-name.ts'
import {
  additionalAddresses,
  authorityOf,
  glueOf,
  NO_RECORDS,
  negativeAuthority,
  referral,
  type ZoneAnswer,
} from './sections.ts'
import { absenceProof, nameProof, signedRecords, typeProof } from './signatures.ts'
import type { ZoneData } from './zone-data.ts'
import type { ZoneNode } from './zone-nodes.ts'
import { coveredType } from './zone-nodes.ts'

/** Answers a question for a name within a zone. */
export function answerFrom(
  zone: ZoneData,
  request: Request,
  rules: Rules = 'coredns',
): MaybePromise<ZoneAnswer> {
  const { lowerName: name, type } = request
  const wantsDnssec = request.query.wantsDnssec
  if (equalNames(name, zone.origin)) {
    const apex = answerApex(zone, type, wantsDnssec)
    if (apex !== undefined) return apex
  }
  const match = findZoneName(zone, name, type)
  switch (match.kind) {
    case 'exact':
      return answerNode(zone, request, { node: match.node, proof: [], rules })
    case 'wildcard': {
      const node = expand(match.node, name)
      return answerNode(zone, request, { node, proof: nameProof(zone, name), rules })
    }
    case 'cut':
      return referral(zone, match.node, wantsDnssec)
    case 'redirected':
      return redirect(zone, request, { node: match.node, rules })
    case 'empty':
    case 'absent':
      return negative(zone, request, match)
  }
}

function answerApex(zone: ZoneData, type: number, wantsDnssec: boolean): ZoneAnswer | undefined {
  const { soa, soaSignatures } = zone
  const authority = authorityOf(zone, wantsDnssec)
  if (type === TYPE.SOA) {
    const answer = wantsDnssec ? [soa, ...soaSignatures] : [soa]
    return { ...NO_RECORDS, kind: 'found', answer, authority }
  }
  if (type !== TYPE.NS) return undefined
  const additional = glueOf(zone, zone.nameservers, wantsDnssec)
  return { ...NO_RECORDS, kind: 'found', answer: authority, additional }
}

type FoundNode = { readonly node: ZoneNode; readonly rules: Rules }

/** @param proof that the name exists only by a wildcard */
function answerNode(
  zone: ZoneData,
  request: Request,
  { node, proof, rules }: FoundNode & { readonly proof: readonly ResourceRecord[] },
): MaybePromise<ZoneAnswer> {
  const { type } = request
  const { wantsDnssec } = request.query
  const proofs = wantsDnssec ? proof : []
  const cnames = signedRecords(node.sets, TYPE.CNAME, wantsDnssec)
  if (cnames.length > 0 && type !== TYPE.CNAME) {
    return followCname(zone, request, { links: cnames, proofs, rules })
  }
  const answer = signedRecords(node.sets, type, wantsDnssec)
  if (answer.length === 0) {
    const none = wantsDnssec ? typeProof(node) : []
    const authority = [...negativeAuthority(zone, wantsDnssec), ...none, ...proofs]
    return { ...NO_RECORDS, kind: 'nodata', authority }
  }
  const authority = [...authorityOf(zone, wantsDnssec), ...proofs]
  const additional = additionalAddresses(zone, answer, wantsDnssec)
  return { ...NO_RECORDS, kind: 'found', answer, authority, additional }
}

function negative(
  zone: ZoneData,
  { lowerName: name, query: { wantsDnssec } }: Request,
  match: Extract<ZoneMatch, { kind: 'empty' | 'absent' }>,
): ZoneAnswer {
  const { kind } = match
  const soa = negativeAuthority(zone, wantsDnssec)
  if (!wantsDnssec) return { ...NO_RECORDS, kind, authority: soa }
  const proof = kind === 'empty' ? nameProof(zone, name) : absenceProof(zone, name, match.encloser)
  return { ...NO_RECORDS, kind, authority: [...soa, ...proof] }
}

/** Expands a wildcard to a name; NSEC records keep their owner. */
function expand({ sets, owner }: ZoneNode, name: Uint8Array): ZoneNode {
  const expanded = new Map<number, readonly ResourceRecord[]>()
  for (const [type, records] of sets) {
    expanded.set(
      type,
      records.map((record) => (isOwn(record) ? record : { ...record, owner: name })),
    )
  }
  return { owner, sets: expanded }
}

function isOwn(record: ResourceRecord): boolean {
  const { type } = record
  return type === TYPE.NSEC || (type === TYPE.RRSIG && coveredType(record) === TYPE.NSEC)
}

/** Returns the DNAME record, the CNAME synthesized from it, and the records of the target. */
function redirect(
  zone: ZoneData,
  request: Request,
  { node, rules }: FoundNode,
): MaybePromise<ZoneAnswer> {
  const { owner, sets } = node
  const { lowerName: name, type, query } = request
  const { wantsDnssec } = query
  const redirections = signedRecords(sets, TYPE.DNAME, wantsDnssec)
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
  return andThen(followCname(zone, request, { links: [link], proofs: [], rules }), (found) => ({
    ...found,
    answer: [...redirections, ...found.answer],
  }))
}
