/**
 * Signs responses: RRsets of the zones, delegations, and negative responses, all of which become
 * NODATA (github.com/coredns/coredns, plugin/dnssec/dnssec.go).
 * @module
 */
import { equalBytes } from '../../bytes/bytes.ts'
import type { Request } from '../../chain/request.ts'
import type { Reply, ResourceRecord } from '../../dns/message.ts'
import { equalNames, nameKey } from '../../dns/name.ts'
import { RCODE } from '../../dns/rcode.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { type ResponseKind, responseKind } from '../../plugin-kit/response-class.ts'
import { closestZone } from '../../plugin-kit/zones.ts'
import { nsecRecord } from './nsec-record.ts'
import type { RRset, Signer } from './signer.ts'

/** The zones to sign for, and the signer. */
export type Signing = {
  readonly zones: readonly Uint8Array[]
  readonly signer: Signer
}

/** The question of a reply. */
type Question = Pick<Request, 'name' | 'type'> & {
  /** The zone that the name is in. */
  readonly zone: Uint8Array
}

/** Signs a reply to a question within one of the zones. */
export function signReply(reply: Reply, question: Question, signing: Signing): Reply {
  const { rcode, answer, authority } = reply
  const hasType = (wanted: number): boolean => authority.some(({ type }) => type === wanted)
  const kind: ResponseKind = responseKind({
    rcode,
    answerCount: answer.length,
    hasSoa: hasType(TYPE.SOA),
    hasNs: hasType(TYPE.NS),
  })
  if (kind === 'delegation') return signDelegation(reply, question, signing)
  if (kind === 'nodata' || kind === 'nxdomain') return signNegative(reply, question, signing)
  return {
    ...reply,
    answer: withSignatures(answer, signing),
    authority: withSignatures(authority, signing),
    additional: withSignatures(reply.additional, signing),
  }
}

/** Signs a delegation's DS records, or proves their absence; leaves NS unsigned (RFC 4035 §2.2). */
function signDelegation(reply: Reply, question: Question, { signer }: Signing): Reply {
  const { authority } = reply
  const [ds, ...others] = authority.filter(({ type }) => type === TYPE.DS)
  const { ttlSeconds = 0 } = authority[0] ?? {}
  const proof =
    ds === undefined
      ? negativeProof({ ...question, ttlSeconds, isDelegation: true }, signer)
      : signer.sign([ds, ...others], question.zone)
  return { ...reply, authority: [...authority, ...proof] }
}

/** Signs a negative response with only an SOA record; others have their own proofs. */
function signNegative(reply: Reply, question: Question, { signer }: Signing): Reply {
  const [soa, other] = reply.authority
  if (soa?.type !== TYPE.SOA || other !== undefined) return reply
  const { ttlSeconds } = soa
  const authority = [
    soa,
    ...signer.sign([soa], question.zone),
    ...negativeProof({ ...question, ttlSeconds, isDelegation: false }, signer),
  ]
  if (authority.length === 1) return reply
  const { NOERROR } = RCODE
  if (question.type !== TYPE.NSEC) return { ...reply, rcode: NOERROR, authority }
  return { ...reply, rcode: NOERROR, answer: authority.slice(-2), authority: [] }
}

function negativeProof(denied: Parameters<typeof nsecRecord>[0], signer: Signer): ResourceRecord[] {
  const record = nsecRecord(denied)
  return record === undefined ? [] : [...signer.sign([record], denied.zone), record]
}

/**
 * Signs each RRset by its closest zone; leaves other RRsets unsigned. Targets of a CNAME were
 * resolved through this server, and are signed already.
 */
function withSignatures(
  records: readonly ResourceRecord[],
  { zones, signer }: Signing,
): readonly ResourceRecord[] {
  const sets = rrsetsOf(records)
  if (sets.length === 0) return records
  const signatures = sets.flatMap((set) => {
    const zone = closestZone(zones, set[0].owner)
    const made = zone === undefined ? [] : signer.sign(set, zone)
    return made.filter((one) => !records.some((record) => isSame(record, one)))
  })
  return [...records, ...signatures]
}

function isSame(a: ResourceRecord, b: ResourceRecord): boolean {
  return a.type === b.type && equalNames(a.owner, b.owner) && equalBytes(a.rdata, b.rdata)
}

function rrsetsOf(records: readonly ResourceRecord[]): RRset[] {
  const sets = new Map<string, [ResourceRecord, ...ResourceRecord[]]>()
  for (const record of records) {
    if (record.type === TYPE.RRSIG) continue
    const key = `${record.type} ${record.class} ${nameKey(record.owner)}`
    const set = sets.get(key)
    if (set === undefined) sets.set(key, [record])
    else set.push(record)
  }
  return [...sets.values()]
}
