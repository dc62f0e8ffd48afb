/**
 * Transfers of a cluster's zones.
 * @module
 */
import { asWordBytes, concatBytes } from '../../../dns/bytes/bytes.ts'
import { NAME_BYTES_MAX } from '../../../dns/names/limits.ts'
import { joinName } from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { CLASS } from '../../../dns/names/rr-class.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { ResourceRecord } from '../../../dns/wire/message.ts'
import { parseQuery } from '../../../dns/wire/query.ts'
import { isSerialAfter } from '../../../dns/wire/soa.ts'
import { writeQuery } from '../../../dns/wire/write-query.ts'
import type { Rdata, RRset } from '../../../snapshot/records/zone-entry.ts'
import type { SnapshotSource } from '../../contract/host.ts'
import { type Zones, zoneOf } from './zone.ts'
import { negativeReply } from './zone-reply.ts'

/** The zones of a directive and their sources. */
export type Transferable = {
  readonly zones: Zones
  readonly source: SnapshotSource
  /** The source of names that several clusters share. */
  readonly sharedSource: SnapshotSource
}

/**
 * Lists the records of a zone between two copies of its SOA record, or the SOA record alone if
 * `serial` is current. As in CoreDNS, any name within a zone may act as a zone with the same names
 * below it. Returns `undefined` for OpenShift 3 zones, which have unlimited names.
 */
export function clusterTransfer(
  { zones, source, sharedSource }: Transferable,
  name: Uint8Array,
  serial: number | undefined,
): Iterable<ResourceRecord> | undefined {
  const query = parseQuery(writeQuery({ name, type: TYPE.SOA }))
  const zone = query.kind === 'query' ? zoneOf(zones, query) : undefined
  if (query.kind === 'refusal' || zone === undefined || zone.hasWildcards) return undefined
  const own = zone.isMulticluster ? sharedSource : source
  const snapshot = own.current()
  const records = own.transferRecords?.()
  if (snapshot === undefined || records === undefined) return undefined
  const zoneOfQuery = { ...zone, origin: asWordBytes(name) }
  const [soa] = negativeReply(
    query,
    { zone: zoneOfQuery, snapshot, visibility: undefined },
    RCODE.NOERROR,
  ).answer
  if (soa === undefined) return undefined
  const isCurrent = serial !== undefined && !isSerialAfter(snapshot.info.generation, serial)
  return isCurrent ? [soa] : between(soa, recordsBelow(name, records))
}

function* between(
  soa: ResourceRecord,
  records: Iterable<ResourceRecord>,
): Generator<ResourceRecord> {
  yield soa
  yield* records
  yield soa
}

/** Builds records from RRsets; omits names that are too long below the origin. */
export function* recordsBelow(
  origin: Uint8Array,
  sets: Iterable<RRset>,
): Generator<ResourceRecord> {
  for (const { owner, type, ttlSeconds, rdata } of sets) {
    const name = joinName(owner, origin)
    if (name === undefined) continue
    for (const item of rdata) {
      const bytes = rdataBelow(item, origin)
      if (bytes !== undefined) {
        yield { owner: name, type, class: CLASS.IN, ttlSeconds, rdata: bytes }
      }
    }
  }
}

function rdataBelow({ bytes, target }: Rdata, origin: Uint8Array): Uint8Array | undefined {
  if (target === undefined) return bytes
  const isFitting = target.length + origin.length <= NAME_BYTES_MAX
  return isFitting ? concatBytes(bytes, target, origin) : undefined
}
