/**
 * The SOA record of a zone, made when it is needed: its names are below the zone that was asked,
 * its serial is the snapshot's generation (CoreDNS, plugin/backend_lookup.go).
 * @module
 */
import { writeUint32 } from '../../dns/bytes.ts'
import { nameOf } from '../../dns/name.ts'
import { QUESTION_OFFSET, type ReplyWriter } from '../../dns/reply-writer.ts'
import { CLASS } from '../../dns/rr-class.ts'
import { TYPE } from '../../dns/rr-type.ts'
import type { SnapshotInfo } from '../../snapshot/snapshot.ts'

const REFRESH_SECONDS = 7200
const RETRY_SECONDS = 1800
const EXPIRE_SECONDS = 86400
const SOA_TTL_SECONDS_MAX = 300

const NS_DNS = nameOf('ns.dns').subarray(0, -1)
const HOSTMASTER = nameOf('hostmaster').subarray(0, -1)
const numbers = new Uint8Array(20)

/**
 * Writes the SOA record of a zone into a section, when the reply is to a name within the zone.
 * @param relativeBytes octets of the query's name that are below the zone
 */
export function writeSoa(
  reply: ReplyWriter,
  section: number,
  zone: {
    readonly origin: Uint8Array
    readonly relativeBytes: number
    readonly info: SnapshotInfo
  },
): void {
  if (reply.isFull) return
  const { origin, relativeBytes, info } = zone
  if (origin.length === 1) reply.beginRootOwner()
  else reply.pointOwner(QUESTION_OFFSET + relativeBytes)
  reply.beginRecord(TYPE.SOA, CLASS.IN, Math.min(info.ttlSeconds, SOA_TTL_SECONDS_MAX))
  const fits =
    reply.writeJoinedName(NS_DNS, 0, NS_DNS.length, origin) &&
    reply.writeJoinedName(HOSTMASTER, 0, HOSTMASTER.length, origin)
  if (!fits) {
    reply.cancelRecord()
    return
  }
  writeUint32(numbers, 0, info.generation)
  writeUint32(numbers, 4, REFRESH_SECONDS)
  writeUint32(numbers, 8, RETRY_SECONDS)
  writeUint32(numbers, 12, EXPIRE_SECONDS)
  writeUint32(numbers, 16, info.ttlSeconds)
  reply.writeBytes(numbers, 0, numbers.length)
  reply.endRecord(section)
}
