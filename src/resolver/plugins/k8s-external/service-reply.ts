/**
 * Answers of `k8s_external` for a Service's name (CoreDNS, plugin/k8s_external/external.go and
 * msg_to_dns.go).
 * @module
 */

import { byteAt, concatBytes } from '../../../dns/bytes/bytes.ts'
import { equalNames, labelOffsets, nameKey, tailOffset } from '../../../dns/names/name.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { Reply, ResourceRecord } from '../../../dns/wire/message.ts'
import { type FoundName, findName, recordsOf } from '../../../snapshot/read/find-name.ts'
import { andThen, type MaybePromise } from '../../contract/maybe-promise.ts'
import type { Request } from '../../contract/request.ts'
import { type Denial, denialOf } from '../../plugin-kit/denial.ts'
import { type ExternalPlace, replyWith } from './apex.ts'

/** Bytes of an SRV record's rdata before its target. */
const NUMBERS_BYTES = 6

type Answers = {
  readonly records: readonly ResourceRecord[]
  readonly truncated: boolean
  /** The negative response at the end of the last CNAME. */
  readonly denial: Denial | undefined
}

const NONE: Answers = { records: [], truncated: false, denial: undefined }

/** Answers A, AAAA and SRV queries from the records of a name; other types are NODATA. */
export function serviceReply(
  request: Request,
  found: FoundName,
  place: ExternalPlace,
): MaybePromise<Reply> {
  const { type, name } = request
  const as = { owner: name, origin: place.zone }
  switch (type) {
    case TYPE.A:
    case TYPE.AAAA: {
      const own = recordsOf(found, type, as)
      const cnames = recordsOf(found, TYPE.CNAME, as)
      return andThen(followed(request, cnames), ({ records, truncated, denial }) => {
        const isOnly = own.length === 0 && cnames.length === 1
        return replyWith(place, { answer: [...own, ...records], truncated, ...(isOnly && denial) })
      })
    }
    case TYPE.SRV: {
      const answer = recordsOf(found, TYPE.SRV, as)
      return andThen(targetAddresses(request, answer, place), (additional) =>
        replyWith(place, { answer, additional }),
      )
    }
    default:
      return replyWith(place, {})
  }
}

/** Returns each CNAME followed by the server's own answer for its target. */
function followed(request: Request, cnames: readonly ResourceRecord[]): MaybePromise<Answers> {
  let all: MaybePromise<Answers> = NONE
  for (const cname of cnames) {
    all = andThen(all, (before) =>
      andThen(lookUp(request, cname.rdata, request.type), ({ records, truncated, denial }) => ({
        records: [...before.records, cname, ...records],
        truncated: before.truncated || truncated,
        denial,
      })),
    )
  }
  return all
}

/** Returns the targets' distinct addresses; the snapshot has those within the zone. */
function targetAddresses(
  request: Request,
  services: readonly ResourceRecord[],
  { snapshot, zone, namespaces }: ExternalPlace,
): MaybePromise<readonly ResourceRecord[]> {
  const targets = services.map(({ rdata }) => rdata.subarray(NUMBERS_BYTES))
  const unique = new Map(targets.map((target) => [nameKey(target), target]))
  let all: MaybePromise<readonly ResourceRecord[]> = []
  for (const target of unique.values()) {
    const end = tailOffset(target, zone)
    const found = end > 0 ? findName(snapshot, target.subarray(0, end), namespaces) : undefined
    const addresses =
      found === undefined
        ? foreignAddresses(request, target)
        : [TYPE.A, TYPE.AAAA].flatMap((type) =>
            recordsOf(found, type, { owner: target, origin: zone }),
          )
    all = andThen(all, (before) => andThen(addresses, (some) => [...before, ...some]))
  }
  return all
}

function foreignAddresses(
  request: Request,
  target: Uint8Array,
): MaybePromise<readonly ResourceRecord[]> {
  return andThen(lookUp(request, target, TYPE.A), (ipv4) =>
    andThen(lookUp(request, target, TYPE.AAAA), (ipv6) => [
      ...ipv4.records,
      // Both lookups return the CNAMEs on the way: keep each once.
      ...ipv6.records.filter((record) => !ipv4.records.some((other) => isSame(record, other))),
    ]),
  )
}

function isSame(a: ResourceRecord, b: ResourceRecord): boolean {
  return a.type === b.type && equalNames(a.owner, b.owner) && equalNames(a.rdata, b.rdata)
}

function lookUp(request: Request, name: Uint8Array, type: number): MaybePromise<Answers> {
  return andThen(request.lookup(name, type), (outcome): Answers => {
    const denial = denialOf(outcome, type)
    if (outcome.kind !== 'reply') return { ...NONE, denial }
    return { records: outcome.answer, truncated: outcome.truncated, denial }
  })
}

const UNDERSCORE = 0x5f
/** The label `*`, which a snapshot has below Services with external addresses. */
const WILDCARD = Uint8Array.of(1, 0x2a)
const LABEL_BYTES_MAX = 63

/**
 * Finds the node for a name below a zone, unless it is hidden.
 * @param relative labels in lower case, without the root; at least one
 * @throws {MissingShardError} if a shard is not loaded
 */
export function findExternalService(
  { snapshot, namespaces }: Pick<ExternalPlace, 'snapshot' | 'namespaces'>,
  relative: Uint8Array,
): FoundName | undefined {
  const find = (labels: Uint8Array): FoundName | undefined => findName(snapshot, labels, namespaces)
  const offsets = labelOffsets(relative)
  const [, second = 0, third = 0] = offsets
  switch (offsets.length) {
    case 1:
    case 2:
      return find(relative)
    case 3: {
      const service = relative.subarray(second)
      const hasAny = find(concatBytes(WILDCARD, service)) !== undefined
      if (hasAny) return find(service)
      return find(concatBytes(plain(relative.subarray(0, second)), service))
    }
    case 4: {
      const port = underscored(relative.subarray(0, second))
      const protocol = underscored(relative.subarray(second, third))
      return find(concatBytes(port, protocol, relative.subarray(third)))
    }
    default:
      return undefined
  }
}

/** Returns a label without its leading underscore. */
function plain(label: Uint8Array): Uint8Array {
  const isUnderscored = label.length > 2 && byteAt(label, 1) === UNDERSCORE
  return isUnderscored ? concatBytes(Uint8Array.of(label.length - 2), label.subarray(2)) : label
}

/** Returns a label with a leading underscore if that fits into 63 bytes. */
function underscored(label: Uint8Array): Uint8Array {
  const size = label.length - 1
  if (byteAt(label, 1) === UNDERSCORE || size >= LABEL_BYTES_MAX) return label
  return concatBytes(Uint8Array.of(size + 1, UNDERSCORE), label.subarray(1))
}
