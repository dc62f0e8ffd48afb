/**
 * Answers of `k8s_external` at the apex of its zones and for the name server that it synthesizes
 * there (CoreDNS, plugin/k8s_external/apex.go).
 * @module
 */
import { concatBytes } from '../../../dns/bytes/bytes.ts'
import {
  equalNames,
  joinName,
  parseRelativeName,
  ROOT,
  tailOffset,
} from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { EMPTY_REPLY, type Reply, type ResourceRecord } from '../../../dns/wire/message.ts'
import { findName, recordsOf } from '../../../snapshot/read/find-name.ts'
import { infoFor, type Snapshot } from '../../../snapshot/read/snapshot.ts'
import type { Visibility } from '../../../snapshot/read/visibility.ts'
import type { SnapshotSource } from '../../contract/host.ts'
import type { Request } from '../../contract/request.ts'
import { type Authority, nsRecord, soaRecord } from '../../plugin-kit/authority.ts'
import { recordsBelow } from '../kubernetes/zone-transfer.ts'
import type { ExternalOptions } from './options.ts'

const SERVER = parseRelativeName('ns1') ?? ROOT
const HOSTMASTER = parseRelativeName('hostmaster') ?? ROOT
const NOWHERE = new Uint8Array(0)

/** A zone, the snapshot to answer from, and what the client sees of it. */
export type ExternalPlace = {
  /** Absolute and in lower case. */
  readonly zone: Uint8Array
  readonly snapshot: Snapshot
  readonly options: ExternalOptions
  /** The namespaces that the client sees; `undefined` for all. */
  readonly namespaces: Visibility | undefined
}

/** Returns the SOA record's fields for a zone. */
function authorityOf({ zone, options, snapshot }: Omit<ExternalPlace, 'namespaces'>): Authority {
  const { apex } = options
  const { ttlSeconds } = snapshot.info
  const primary = concatBytes(SERVER, apex)
  return { zone, primary, mailbox: concatBytes(HOSTMASTER, apex), ttlSeconds }
}

/** Builds an authoritative reply, with the zone's SOA record if there is no answer. */
export function replyWith(
  place: ExternalPlace,
  sections: Partial<Pick<Reply, 'answer' | 'authority' | 'additional' | 'rcode' | 'truncated'>>,
): Reply {
  const { answer = [] } = sections
  const soa = answer.length === 0 ? [zoneSoa(place)] : []
  return { ...EMPTY_REPLY, authoritative: true, origin: 'snapshot', authority: soa, ...sections }
}

/** Returns the address records of the name server at `owner`. */
function apexAddresses(snapshot: Snapshot, owner: Uint8Array): ResourceRecord[] {
  const found = findName(snapshot, NOWHERE)
  if (found === undefined) return []
  const as = { owner, origin: ROOT }
  return [...recordsOf(found, TYPE.A, as), ...recordsOf(found, TYPE.AAAA, as)]
}

function zoneSoa(place: ExternalPlace): ResourceRecord {
  return soaRecord(authorityOf(place), infoFor(place.snapshot, place.namespaces).generation)
}

/**
 * Lists the records of a zone for a transfer, or only its SOA record if the client's `serial` is
 * current. Returns `undefined` for a zone that is not transferred.
 */
export function externalTransfer(
  source: SnapshotSource,
  { zone, options }: Pick<ExternalPlace, 'zone' | 'options'>,
  serial: number | undefined,
): Iterable<ResourceRecord> | undefined {
  const snapshot = source.current()
  if (snapshot === undefined || source.transferRecords === undefined) return undefined
  const { generation } = snapshot.info
  const authority = authorityOf({ zone, options, snapshot })
  const soa = soaRecord(authority, generation)
  if (serial !== undefined && serial > 0 && serial >= generation) return [soa]
  const { primary } = authority
  const addresses = apexAddresses(snapshot, joinName(primary, zone) ?? zone)
  const services = recordsBelow(zone, source.transferRecords())
  return [soa, nsRecord(authority, primary), ...addresses, ...services, soa]
}

/** Answers for the apex and for names at or below `apex`; `undefined` for other names. */
export function apexReply(request: Request, place: ExternalPlace): Reply | undefined {
  const { zone, snapshot, options } = place
  const { name, lowerName, type } = request
  const authority = authorityOf(place)
  const { primary } = authority
  if (equalNames(lowerName, zone)) {
    switch (type) {
      case TYPE.SOA:
        return replyWith(place, { answer: [zoneSoa(place)] })
      case TYPE.NS: {
        const additional = apexAddresses(snapshot, joinName(primary, name) ?? name)
        return replyWith(place, { answer: [nsRecord(authority, primary)], additional })
      }
      default:
        return replyWith(place, {})
    }
  }
  const above = joinName(options.apex, zone)
  const below = above === undefined ? -1 : tailOffset(lowerName, above)
  if (below < 0) return undefined
  if (below === 0) return replyWith(place, {})
  if (!equalNames(lowerName, joinName(primary, zone) ?? zone)) {
    return replyWith(place, { rcode: RCODE.NXDOMAIN })
  }
  const addresses = apexAddresses(snapshot, name)
  const answer = addresses.filter((record) => record.type === type)
  return replyWith(place, { answer })
}
