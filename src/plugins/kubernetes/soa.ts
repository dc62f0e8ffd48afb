/**
 * The SOA record of a zone, made when it is needed: its names are below the zone that was asked,
 * its serial is the snapshot's generation (CoreDNS, plugin/backend_lookup.go).
 * @module
 */
import { octet, writeUint32 } from '../../dns/bytes.ts'
import { NAME_BYTES_MAX } from '../../dns/limits.ts'
import { nameOf } from '../../dns/name.ts'
import type { Query } from '../../dns/query.ts'
import { QUESTION_OFFSET, type ReplyWriter, SECTION } from '../../dns/reply-writer.ts'
import { CLASS } from '../../dns/rr-class.ts'
import { TYPE } from '../../dns/rr-type.ts'
import type { SnapshotInfo } from '../../snapshot/snapshot.ts'
import type { Zone } from './zone.ts'

const REFRESH_SECONDS = 7200
const RETRY_SECONDS = 1800
const EXPIRE_SECONDS = 86400
const SOA_TTL_SECONDS_MAX = 300

const NS_DNS = nameOf('ns.dns').subarray(0, -1)
const HOSTMASTER = nameOf('hostmaster').subarray(0, -1)
const DNS = NS_DNS.subarray(3)
const numbers = new Uint8Array(20)

/**
 * Writes the SOA record of the zone that a query's name is within: into the answer section when it
 * is what was asked, otherwise into the authority section. Allocates nothing.
 */
export function writeSoa(
  reply: ReplyWriter,
  query: Query,
  { origin }: Zone,
  info: SnapshotInfo,
): void {
  if (reply.isFull) return
  const relativeBytes = query.nameBytes - origin.length
  const isAsked = relativeBytes === 0 && query.type === TYPE.SOA
  if (origin.length === 1) reply.beginRootOwner()
  else reply.pointOwner(QUESTION_OFFSET + relativeBytes)
  reply.beginRecord(TYPE.SOA, CLASS.IN, Math.min(info.ttlSeconds, SOA_TTL_SECONDS_MAX))
  if (endsAsUsual(query, relativeBytes, origin)) {
    reply.writeBelow(NS_DNS, relativeBytes)
    reply.writeBelow(HOSTMASTER, relativeBytes)
  } else {
    const fits =
      reply.writeJoinedName(NS_DNS, 0, NS_DNS.length, origin) &&
      reply.writeJoinedName(HOSTMASTER, 0, HOSTMASTER.length, origin)
    if (!fits) {
      reply.cancelRecord()
      return
    }
  }
  writeUint32(numbers, 0, info.generation)
  writeUint32(numbers, 4, REFRESH_SECONDS)
  writeUint32(numbers, 8, RETRY_SECONDS)
  writeUint32(numbers, 12, EXPIRE_SECONDS)
  writeUint32(numbers, 16, info.ttlSeconds)
  reply.writeBytes(numbers, 0, numbers.length)
  reply.endRecord(isAsked ? SECTION.ANSWER : SECTION.AUTHORITY)
}

/**
 * Tells whether the question has no more in common with the record's names than the origin, and
 * these are not too long: then where they point to is known beforehand.
 */
function endsAsUsual(
  { name, labels, labelCount }: Query,
  relativeBytes: number,
  origin: Uint8Array,
): boolean {
  if (origin.length === 1 || HOSTMASTER.length + origin.length > NAME_BYTES_MAX) return false
  let last = labelCount - 1
  while (last >= 0 && octet(labels, last) >= relativeBytes) last--
  if (last < 0) return true
  const at = octet(labels, last)
  return !isLabel(name, at, DNS) && !isLabel(name, at, HOSTMASTER)
}

function isLabel(name: Uint8Array, at: number, label: Uint8Array): boolean {
  for (let i = 0; i < label.length; i++) if (octet(name, at + i) !== octet(label, i)) return false
  return true
}
