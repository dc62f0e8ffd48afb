/**
 * The data that an RRSIG covers: the RRset in canonical form and order (RFC 4034 §3.1.8.1, §6).
 * @module
 */
import { compareBytes, concatBytes, equalBytes, uint16Bytes, uint32Bytes } from '../bytes/bytes.ts'
import { labelOffsets, lowerName } from '../names/name.ts'
import { TYPE } from '../names/rr-type.ts'
import { rdataSchema } from '../rdata/rdata-schema.ts'
import type { ResourceRecord } from './message.ts'
import { fieldEnd } from './rdata-wire.ts'

/** The fields of an RRSIG record before the signature; times in seconds since 1970. */
export type SignatureTerms = {
  readonly typeCovered: number
  readonly algorithm: number
  /** Labels of the owner without the root and a wildcard's `*`. */
  readonly labels: number
  /** TTL of the records in their zone. */
  readonly originalTtlSeconds: number
  readonly expiration: number
  readonly inception: number
  readonly keyTag: number
  /** Absolute. */
  readonly signer: Uint8Array
}

const ASTERISK = 0x2a

/** Types whose rdata has its names in lower case (RFC 4034 §6.2, RFC 6840 §5.1). */
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

/** Writes the rdata of an RRSIG record up to the signature, with the signer in lower case. */
export function writeSignatureTerms(terms: SignatureTerms): Uint8Array {
  const { typeCovered, algorithm, labels, originalTtlSeconds, expiration, inception } = terms
  return concatBytes(
    uint16Bytes(typeCovered),
    Uint8Array.of(algorithm, labels),
    uint32Bytes(originalTtlSeconds, expiration, inception),
    uint16Bytes(terms.keyTag),
    lowerName(terms.signer),
  )
}

/** Returns the Labels field of an owner: without the root and `*`. */
export function signedLabels(owner: Uint8Array): number {
  const count = labelOffsets(owner).length
  return owner[0] === 1 && owner[1] === ASTERISK ? count - 1 : count
}

/**
 * Writes an RRset with the owner, type and class of its first record: names in lower case, TTLs
 * `originalTtlSeconds`, sorted by rdata, without duplicates.
 */
export function canonicalRecords(
  records: readonly [ResourceRecord, ...ResourceRecord[]],
  originalTtlSeconds: number,
): Uint8Array {
  const [{ owner, type, class: rrClass }] = records
  const head = concatBytes(
    lowerName(owner),
    uint16Bytes(type, rrClass),
    uint32Bytes(originalTtlSeconds),
  )
  const sorted = records.map(({ rdata }) => canonicalRdata(type, rdata)).sort(compareBytes)
  const parts: Uint8Array[] = []
  sorted.forEach((rdata, i) => {
    const before = sorted[i - 1]
    if (before !== undefined && equalBytes(before, rdata)) return
    parts.push(head, uint16Bytes(rdata.length), rdata)
  })
  return concatBytes(...parts)
}

/** Returns the key tag of a DNSKEY record's rdata (RFC 4034 appendix B). */
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
