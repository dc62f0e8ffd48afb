/**
 * Writes a zone's SOA record: its names are below the origin of the query, its serial is the
 * snapshot's generation (CoreDNS, plugin/backend_lookup.go).
 * @module
 */
import { wordBytes, writeUint32 } from '../../../dns/bytes/bytes.ts'
import { NAME_BYTES_MAX } from '../../../dns/names/limits.ts'
import { nameOf } from '../../../dns/names/name.ts'
import { CLASS } from '../../../dns/names/rr-class.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { Query } from '../../../dns/wire/query.ts'
import { QUESTION_OFFSET, type ReplyWriter, SECTION } from '../../../dns/wire/reply-writer.ts'
import type { SnapshotInfo } from '../../../snapshot/read/snapshot.ts'
import { type RelativeName, relativeName } from './spellings.ts'
import type { Zone } from './zone.ts'

const { SOA } = TYPE
const { IN } = CLASS
const { ANSWER, AUTHORITY } = SECTION
const REFRESH_SECONDS = 7200
const RETRY_SECONDS = 1800
const EXPIRE_SECONDS = 86400
const SOA_TTL_SECONDS_MAX = 300

const NS_DNS = labelsOf('ns.dns')
const HOSTMASTER = labelsOf('hostmaster')
const DNS_OFFSET = 3
const NUMBERS_BYTES = 20

/** Rdata template whose names end in pointers to the origin, which are filled in per query. */
const usual = wordBytes(44)
const HOSTMASTER_OFFSET = NS_DNS.size + 2
const NUMBERS_OFFSET = HOSTMASTER_OFFSET + HOSTMASTER.size + 2
usual.bytes.set(NS_DNS.bytes.subarray(0, NS_DNS.size))
usual.bytes.set(HOSTMASTER.bytes.subarray(0, HOSTMASTER.size), HOSTMASTER_OFFSET)
const numbers = usual.bytes.subarray(NUMBERS_OFFSET, NUMBERS_OFFSET + NUMBERS_BYTES)
writeUint32(numbers, 4, REFRESH_SECONDS)
writeUint32(numbers, 8, RETRY_SECONDS)
writeUint32(numbers, 12, EXPIRE_SECONDS)
/** The snapshot whose numbers the template holds. */
let numbered: SnapshotInfo | undefined

/**
 * Writes the SOA record of the query's zone: into the answer section for an SOA query, otherwise
 * into the authority section. Allocates nothing.
 */
export function writeSoa(
  reply: ReplyWriter,
  query: Query,
  { origin }: Zone,
  info: SnapshotInfo,
): void {
  if (reply.isFull) return
  const relativeBytes = query.nameBytes - origin.size
  const isAsked = relativeBytes === 0 && query.type === SOA
  if (origin.size === 1) reply.beginRootOwner()
  else reply.pointOwner(QUESTION_OFFSET + relativeBytes)
  reply.beginRecord(SOA, IN, Math.min(info.ttlSeconds, SOA_TTL_SECONDS_MAX))
  if (info !== numbered) writeNumbers(info)
  if (endsAsUsual(query, relativeBytes, origin.size)) {
    const start = reply.length
    reply.writeMade(usual.words, NUMBERS_OFFSET + NUMBERS_BYTES)
    reply.writePointerAt(start + HOSTMASTER_OFFSET - 2, QUESTION_OFFSET + relativeBytes)
    reply.writePointerAt(start + NUMBERS_OFFSET - 2, QUESTION_OFFSET + relativeBytes)
  } else {
    const fits =
      reply.writeJoinedName(NS_DNS, 0, NS_DNS.size, origin) &&
      reply.writeJoinedName(HOSTMASTER, 0, HOSTMASTER.size, origin)
    if (!fits) {
      reply.cancelRecord()
      return
    }
    reply.writeBytes(numbers, 0, NUMBERS_BYTES)
  }
  reply.endRecord(isAsked ? ANSWER : AUTHORITY)
}

const writeNumbers = (info: SnapshotInfo): void => {
  writeUint32(numbers, 0, info.generation)
  writeUint32(numbers, 16, info.ttlSeconds)
  numbered = info
}

/**
 * Returns whether the question shares only the origin with the record's names and these fit: then
 * the positions of their pointers are known beforehand.
 */
const endsAsUsual = (
  { name, labels, labelCount }: Query,
  relativeBytes: number,
  originBytes: number,
): boolean => {
  if (originBytes === 1 || HOSTMASTER.size + originBytes > NAME_BYTES_MAX) return false
  let last = labelCount - 1
  while (last >= 0 && (labels[last] ?? 0) >= relativeBytes) last--
  if (last < 0) return true
  const at = labels[last] ?? 0
  return !isLabel(name, at, NS_DNS.bytes, DNS_OFFSET) && !isLabel(name, at, HOSTMASTER.bytes, 0)
}

const isLabel = (name: Uint8Array, at: number, labels: Uint8Array, start: number): boolean => {
  const size = labels[start] ?? 0
  for (let i = 0; i <= size; i++) {
    if (name[at + i] !== labels[start + i]) return false
  }
  return true
}

function labelsOf(text: string): RelativeName {
  const name = nameOf(text)
  const labels = relativeName()
  labels.bytes.set(name)
  labels.size = name.length - 1
  return labels
}
