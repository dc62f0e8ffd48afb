/**
 * Signs responses: RRsets of the zones, delegations, and negative responses, all of which become
 * NODATA (github.com/coredns/coredns, plugin/dnssec/dnssec.go).
 * @module
 */
import { byteAt, concatBytes } from '../../../dns/bytes/bytes.ts'
import { LABEL_BYTES_MAX, NAME_BYTES_MAX } from '../../../dns/names/limits.ts'
import { equalNames, isSubdomain, nameKey } from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { CLASS } from '../../../dns/names/rr-class.ts'
import { isTransferType, TYPE } from '../../../dns/names/rr-type.ts'
import { typeBitmap } from '../../../dns/rdata/type-bitmap.ts'
import { isSameRecord, type Reply, type ResourceRecord } from '../../../dns/wire/message.ts'
import type { Request } from '../../contract/request.ts'
import { type ResponseKind, responseKind } from '../../plugin-kit/response-class.ts'
import { closestZone } from '../../plugin-kit/zones.ts'
import type { SignedRRset, Signer } from './signer.ts'

type Signing = {
  readonly zones: readonly Uint8Array[]
  readonly signer: Signer
}

type Question = Pick<Request, 'name' | 'type'> & {
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
  const isDenial = kind === 'nodata' || kind === 'nxdomain'
  if (isDenial && !isTransferType(question.type)) return signNegative(reply, question, signing)
  const end = deniedEnd(reply, question)
  const denial = end && signNegative(reply, { ...question, name: end }, signing)
  return {
    ...(denial ?? reply),
    answer: withSignatures(answer, signing),
    authority: denial?.authority ?? withSignatures(authority, signing),
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

/** Returns the end of CNAMEs if it is a name of the zone, and an SOA record alone denies it. */
function deniedEnd({ answer, authority }: Reply, { zone }: Question): Uint8Array | undefined {
  const [soa, other] = authority
  const isBare = soa?.type === TYPE.SOA && other === undefined && equalNames(soa.owner, zone)
  const last = answer.findLast(({ type }) => type !== TYPE.RRSIG)
  const isDenied = isBare && last?.type === TYPE.CNAME && isSubdomain(last.rdata, zone)
  return isDenied ? last.rdata : undefined
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
    return made.filter((one) => !records.some((record) => isSameRecord(record, one)))
  })
  return [...records, ...signatures]
}

function rrsetsOf(records: readonly ResourceRecord[]): SignedRRset[] {
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

/** A question with a negative response. */
type UnknownQuestion = {
  /** The query name with its letter case. */
  readonly name: Uint8Array
  readonly type: number
  readonly zone: Uint8Array
  readonly ttlSeconds: number
  readonly isDelegation: boolean
}

/** Types in the bitmap of any name: the plugin does not know the real ones. */
const AT_NAMES: readonly number[] = [
  TYPE.A,
  TYPE.HINFO,
  TYPE.TXT,
  TYPE.AAAA,
  TYPE.LOC,
  TYPE.SRV,
  TYPE.CERT,
  TYPE.SSHFP,
  TYPE.RRSIG,
  TYPE.NSEC,
  TYPE.TLSA,
  TYPE.HIP,
  TYPE.OPENPGPKEY,
  TYPE.SPF,
]
const AT_CUTS: readonly number[] = [...AT_NAMES, TYPE.NS]
const AT_APEX: readonly number[] = [...AT_CUTS, TYPE.SOA, TYPE.MX, TYPE.DNSKEY]

/**
 * Returns the record. The next name is the first one below the name; at a zone cut, the first one
 * after the name's subtree. `undefined` if that exceeds the bounds of a name.
 */
export function nsecRecord(denied: UnknownQuestion): ResourceRecord | undefined {
  const { name: owner, ttlSeconds } = denied
  const isApex = equalNames(owner, denied.zone)
  const next = denied.isDelegation && !isApex ? besides(owner) : below(owner)
  if (next === undefined) return undefined
  const rdata = concatBytes(next, typeBitmap(typesOf(denied, isApex)))
  return { owner, type: TYPE.NSEC, class: CLASS.IN, ttlSeconds, rdata }
}

function typesOf({ type, isDelegation }: UnknownQuestion, isApex: boolean): readonly number[] {
  if (!isApex && (isDelegation || type === TYPE.DS)) return AT_CUTS
  const types = isApex ? AT_APEX : AT_NAMES
  // The name always has an NSEC record: this one.
  if (isDelegation || type === TYPE.NSEC) return types
  return types.filter((one) => one !== type)
}

function below(name: Uint8Array): Uint8Array | undefined {
  return name.length + 2 > NAME_BYTES_MAX ? undefined : concatBytes(Uint8Array.of(1, 0), name)
}

function besides(name: Uint8Array): Uint8Array | undefined {
  const length = byteAt(name, 0)
  if (length === LABEL_BYTES_MAX || name.length === NAME_BYTES_MAX) return undefined
  const label = name.subarray(1, length + 1)
  const rest = name.subarray(length + 1)
  return concatBytes(Uint8Array.of(length + 1), label, Uint8Array.of(0), rest)
}
