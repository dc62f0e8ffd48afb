/**
 * Replies as the cache keeps them: all records in one array of bytes. Two arrays for each record
 * take several times the memory, and the garbage collector visits each of them. Big-endian:
 *
 * ```
 * records of the answer (4) | of the authority (4) | of the additional section (4) | the records:
 * size of the owner, 0 for the one before in the section (1) | type (2) | class (2)
 * size of the rdata (2) | owner | rdata
 * ```
 * @module
 */
import {
  byteAt,
  EMPTY,
  equalBytes,
  readUint16,
  readUint32,
  writeUint16,
  writeUint32,
} from '../../../dns/bytes/bytes.ts'
import { EMPTY_REPLY, type Reply, type ResourceRecord } from '../../../dns/wire/message.ts'

/** What a response from the cache has of a reply: no TTLs, no EDNS options. */
export type PackedReply = Pick<Reply, 'rcode' | 'recursionAvailable' | 'authenticData'> & {
  readonly records: Uint8Array
}

const COUNTS_BYTES = 12
/** Bytes of a record besides its owner and rdata. */
const RECORD_BYTES = 7

/** Packs a reply. */
export function packReply(reply: Reply): PackedReply {
  const { rcode, recursionAvailable, authenticData } = reply
  const sections = [reply.answer, reply.authority, reply.additional]
  const records = new Uint8Array(sections.reduce(addSize, COUNTS_BYTES))
  let at = COUNTS_BYTES
  for (const [i, section] of sections.entries()) {
    writeUint32(records, 4 * i, section.length)
    let before = EMPTY
    for (const record of section) {
      at += writeRecord(records, at, record, before)
      before = record.owner
    }
  }
  return { rcode, recursionAvailable, authenticData, records }
}

/**
 * Returns a packed reply as the server's own, with a TTL for all of its records. AA is set, as
 * CoreDNS does, because some old resolvers refuse responses without it.
 */
export function unpackReply(packed: PackedReply, ttlSeconds: number): Reply {
  const { rcode, recursionAvailable, authenticData, records } = packed
  let at = COUNTS_BYTES
  const read = (count: number): ResourceRecord[] => {
    const section: ResourceRecord[] = []
    let owner = EMPTY
    for (let left = count; left > 0; left--) {
      const ownerAt = at + RECORD_BYTES
      const rdataAt = ownerAt + byteAt(records, at)
      const end = rdataAt + readUint16(records, at + 5)
      if (rdataAt > ownerAt) owner = records.subarray(ownerAt, rdataAt)
      const type = readUint16(records, at + 1)
      const rrClass = readUint16(records, at + 3)
      section.push({
        ...{ owner, type, class: rrClass, ttlSeconds },
        rdata: records.subarray(rdataAt, end),
      })
      at = end
    }
    return section
  }
  return {
    ...EMPTY_REPLY,
    rcode,
    authoritative: true,
    recursionAvailable,
    authenticData,
    answer: read(readUint32(records, 0)),
    authority: read(readUint32(records, 4)),
    additional: read(readUint32(records, 8)),
  }
}

function addSize(bytes: number, section: readonly ResourceRecord[]): number {
  let before = EMPTY
  let sum = bytes
  for (const { owner, rdata } of section) {
    sum += RECORD_BYTES + rdata.length + (equalBytes(owner, before) ? 0 : owner.length)
    before = owner
  }
  return sum
}

/** Writes a record; returns its size. */
function writeRecord(
  bytes: Uint8Array,
  at: number,
  { owner, type, class: rrClass, rdata }: ResourceRecord,
  before: Uint8Array,
): number {
  const ownerBytes = equalBytes(owner, before) ? 0 : owner.length
  bytes[at] = ownerBytes
  writeUint16(bytes, at + 1, type)
  writeUint16(bytes, at + 3, rrClass)
  writeUint16(bytes, at + 5, rdata.length)
  const ownerAt = at + RECORD_BYTES
  if (ownerBytes > 0) bytes.set(owner, ownerAt)
  bytes.set(rdata, ownerAt + ownerBytes)
  return RECORD_BYTES + ownerBytes + rdata.length
}
