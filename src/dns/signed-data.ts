/**
 * What a signature of a record set covers: the records in their canonical form and order (RFC 4034
 * §3.1.8.1, §6).
 * @module
 */
import { compareBytes, concatBytes, equalBytes, writeUint16, writeUint32 } from '../bytes/bytes.ts'
import type { ResourceRecord } from './message.ts'
import { labelOffsets, lowerName } from './name.ts'
import { rdataSchema } from './rdata-schema.ts'
import { fieldEnd } from './rdata-wire.ts'
import { TYPE } from './rr-type.ts'

/** What an RRSIG record says beside the signature; times in seconds since 1970. */
export type SignatureTerms = {
  readonly typeCovered: number
  readonly algorithm: number
  /** Labels of the owner; the root is none, nor is a wildcard's `*`. */
  readonly labels: number
  /** TTL that the records had where they come from. */
  readonly originalTtlSeconds: number
  readonly expiration: number
  readonly inception: number
  readonly keyTag: number
  /** Absolute. */
  readonly signer: Uint8Array
}

/** Bytes of an RRSIG record's data before the signer's name. */
const FIXED_BYTES = 18
/** Type, class, TTL and size of a record. */
const HEAD_BYTES = 10
const ASTERISK = 0x2a

/** Types whose names count in lower case (RFC 4034 §6.2, RFC 6840 §5.1). */
const LOWERED: ReadonlySet<number> = new Set([
  TYPE.NS,
  TYPE.MD,
  TYPE.MF,
  TYPE.CNAME,
  TYPE.SOA,
  TYPE.MB,
  TYPE.MG,
  TYPE.MR,
  TYPE.PTR,
  TYPE.MINFO,
  TYPE.MX,
  TYPE.RP,
  TYPE.AFSDB,
  TYPE.RT,
  TYPE.PX,
  TYPE.NAPTR,
  TYPE.KX,
  TYPE.SRV,
  TYPE.DNAME,
])

/** Writes the rdata of an RRSIG record up to the signature, the signer in lower case. */
export function writeSignatureTerms(terms: SignatureTerms): Uint8Array {
  const fixed = new Uint8Array(FIXED_BYTES)
  writeUint16(fixed, 0, terms.typeCovered)
  fixed[2] = terms.algorithm
  fixed[3] = terms.labels
  writeUint32(fixed, 4, terms.originalTtlSeconds)
  writeUint32(fixed, 8, terms.expiration)
  writeUint32(fixed, 12, terms.inception)
  writeUint16(fixed, 16, terms.keyTag)
  return concatBytes(fixed, lowerName(terms.signer))
}

/** Counts the labels of an owner as signatures do. */
export function signedLabels(owner: Uint8Array): number {
  const count = labelOffsets(owner).length
  return owner[0] === 1 && owner[1] === ASTERISK ? count - 1 : count
}

/**
 * Writes the records of one set, all with the owner, type and class of the first: names in lower
 * case, TTLs `originalTtlSeconds`, sorted by their data, each once.
 */
export function canonicalRecords(
  records: readonly [ResourceRecord, ...ResourceRecord[]],
  originalTtlSeconds: number,
): Uint8Array {
  const [{ owner, type, class: rrClass }] = records
  const lowerOwner = lowerName(owner)
  const sorted = records.map(({ rdata }) => canonicalRdata(type, rdata)).sort(compareBytes)
  const parts: Uint8Array[] = []
  sorted.forEach((rdata, i) => {
    const before = sorted[i - 1]
    if (before !== undefined && equalBytes(before, rdata)) return
    const head = new Uint8Array(HEAD_BYTES)
    writeUint16(head, 0, type)
    writeUint16(head, 2, rrClass)
    writeUint32(head, 4, originalTtlSeconds)
    writeUint16(head, 8, rdata.length)
    parts.push(lowerOwner, head, rdata)
  })
  return concatBytes(...parts)
}

/** The key tag of a DNSKEY record: a sum of its data (RFC 4034 appendix B). */
export function keyTag(rdata: Uint8Array): number {
  let sum = 0
  rdata.forEach((value, i) => {
    sum += i % 2 === 0 ? value * 256 : value
  })
  return (sum + Math.floor(sum / 0x10000)) & 0xffff
}

function canonicalRdata(type: number, rdata: Uint8Array): Uint8Array {
  if (!LOWERED.has(type)) return rdata
  const lower = rdata.slice()
  let at = 0
  for (const field of rdataSchema(type) ?? []) {
    const end = fieldEnd(field, rdata, at)
    if (field === 'name' || field === 'pointable') lower.set(lowerName(rdata.subarray(at, end)), at)
    at = end
  }
  return lower
}
