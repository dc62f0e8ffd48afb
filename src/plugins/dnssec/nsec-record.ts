/**
 * NSEC records that cover only the query name: "black lies"
 * (draft-valsorda-dnsop-black-lies, github.com/coredns/coredns, plugin/dnssec/black_lies.go).
 * @module
 */
import { byteAt, concatBytes } from '../../bytes/bytes.ts'
import { LABEL_BYTES_MAX, NAME_BYTES_MAX } from '../../dns/limits.ts'
import type { ResourceRecord } from '../../dns/message.ts'
import { equalNames } from '../../dns/name.ts'
import { CLASS } from '../../dns/rr-class.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { typeBitmap } from '../../dns/type-bitmap.ts'

/** A question with a negative response. */
export type UnknownQuestion = {
  /** The query name with its letter case. */
  readonly name: Uint8Array
  readonly type: number
  /** The zone that the name is in. */
  readonly zone: Uint8Array
  readonly ttlSeconds: number
  /** Whether the response is a delegation. */
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
