/**
 * Filters the records of an upstream's response by the question. With other records, an upstream or
 * an attacker who forges its responses could spoof any name.
 * @module
 */
import { readUint16 } from '../bytes/bytes.ts'
import { joinName, labelOffsets, nameKey, tailOffset } from '../names/name.ts'
import { TYPE } from '../names/rr-type.ts'
import { rdataSchema } from '../rdata/rdata-schema.ts'
import type { Question, Reply, ResourceRecord } from './message.ts'
import { fieldEnd } from './rdata-wire.ts'

/** Types that prove a negative response, at other owners (RFC 4035 §3.1.3, RFC 5155 §7.2). */
const PROOFS: ReadonlySet<number> = new Set([TYPE.NSEC, TYPE.NSEC3])

/** Names of a CNAME chain that count: DNAME records can extend it without end. */
const CHAIN_MAX = 64

/** Records by owner. */
type ByOwner = ReadonlyMap<string, readonly ResourceRecord[]>

/**
 * Returns the records of a response that
 * - in the answer section, belong to the query name, to a target of its CNAMEs, or to a DNAME
 *   record above one of these (RFC 6672 §3);
 * - in the authority section, belong to such a name or to a zone above it, or prove a negative
 *   response;
 * - in the additional section, belong to such a name or to one that a record points to.
 *
 * Keeps signatures with their records. Does not filter zone transfers.
 */
export function withinBailiwick(
  { answer, authority, additional }: Reply,
  { name, type }: Question,
): Pick<Reply, 'answer' | 'authority' | 'additional'> {
  if (type === TYPE.AXFR || type === TYPE.IXFR) return { answer, authority, additional }
  const chain = cnames(name, byOwner(answer))
  const above = new Set([...chain.values()].flatMap(selfAndAbove))
  const isAlias = ({ owner, type: own }: ResourceRecord): boolean =>
    chain.has(nameKey(owner)) || (own === TYPE.DNAME && above.has(nameKey(owner)))
  const isAbove = ({ owner, type: own }: ResourceRecord): boolean =>
    PROOFS.has(own) || above.has(nameKey(owner))
  const kept = { answer: keep(answer, isAlias), authority: keep(authority, isAbove) }
  const known = targets(chain, [...kept.answer, ...kept.authority], byOwner(additional))
  return { ...kept, additional: keep(additional, ({ owner }) => known.has(nameKey(owner))) }
}

function byOwner(records: readonly ResourceRecord[]): ByOwner {
  return Map.groupBy(records, ({ owner }) => nameKey(owner))
}

/** Returns the query name and the targets of its CNAMEs, by key, `CHAIN_MAX` of them at most. */
function cnames(name: Uint8Array, records: ByOwner): Map<string, Uint8Array> {
  const chain = new Map([[nameKey(name), name]])
  // The loop also visits names that it adds.
  for (const cname of chain.values()) {
    for (const target of aliasTargets(cname, records)) {
      if (chain.size >= CHAIN_MAX) return chain
      chain.set(nameKey(target), target)
    }
  }
  return chain
}

/** Yields where the CNAMEs of a name point, and the DNAME records above it. */
function* aliasTargets(name: Uint8Array, records: ByOwner): Generator<Uint8Array> {
  for (const { type, rdata } of records.get(nameKey(name)) ?? []) {
    if (type === TYPE.CNAME) yield rdata
  }
  for (const key of selfAndAbove(name).slice(1)) {
    for (const { owner, type, rdata } of records.get(key) ?? []) {
      const target = joinName(name.subarray(0, tailOffset(name, owner)), rdata)
      if (type === TYPE.DNAME && target !== undefined) yield target
    }
  }
}

/** Returns the keys of the chain and of all names that records point to, recursively. */
function targets(
  chain: ReadonlyMap<string, Uint8Array>,
  records: readonly ResourceRecord[],
  additional: ByOwner,
): ReadonlySet<string> {
  const known = new Set([...chain.keys(), ...records.flatMap(namesWithin)])
  for (const key of known) {
    for (const name of (additional.get(key) ?? []).flatMap(namesWithin)) known.add(name)
  }
  return known
}

/** Filters a section, but keeps the signatures of its remaining records. */
function keep(
  section: readonly ResourceRecord[],
  isKept: (record: ResourceRecord) => boolean,
): readonly ResourceRecord[] {
  const setOf = ({ owner }: ResourceRecord, type: number): string => `${type} ${nameKey(owner)}`
  const kept = new Set(section.filter(isKept))
  if (kept.size === section.length) return section
  const signed = new Set([...kept].map((record) => setOf(record, record.type)))
  return section.filter((record) => {
    const isSignature = record.type === TYPE.RRSIG
    return (
      kept.has(record) || (isSignature && signed.has(setOf(record, readUint16(record.rdata, 0))))
    )
  })
}

/** Returns the keys of a name and of all names above it, up to the root. */
function selfAndAbove(name: Uint8Array): string[] {
  return [...labelOffsets(name), name.length - 1].map((at) => nameKey(name.subarray(at)))
}

/** Returns the keys of the names in a record's rdata. */
function namesWithin({ type, rdata }: ResourceRecord): string[] {
  const names: string[] = []
  let at = 0
  for (const field of rdataSchema(type) ?? []) {
    const end = fieldEnd(field, rdata, at)
    if (field === 'name' || field === 'pointable') names.push(nameKey(rdata.subarray(at, end)))
    at = end
  }
  return names
}
