/**
 * Finds hostnames, and the wildcards that stand for them.
 * @module
 */
import { byteAt, concatBytes } from '../../../dns/bytes/bytes.ts'
import { ROOT } from '../../../dns/names/name.ts'
import {
  type FoundName,
  findGlue,
  findName,
  isSeen,
  recordsOf,
} from '../../../snapshot/read/find-name.ts'
import type { Snapshot } from '../../../snapshot/read/snapshot.ts'
import type { Visibility } from '../../../snapshot/read/visibility.ts'
import {
  BELOW_TYPE,
  belowKey,
  CLAIMS_MAX,
  type HostMarks,
  hostKey,
  MARKS_TYPE,
  readMarks,
} from '../../../snapshot/records/host-claims.ts'

/** Where to look names up. */
export type FindPlace = {
  /** The query's zone, absolute and in lower case. */
  readonly zone: Uint8Array
  readonly snapshot: Snapshot
  /** The namespaces that the client sees; `undefined` for all. */
  readonly namespaces: Visibility | undefined
}

const WILDCARD = Uint8Array.of(1, 0x2a)
const NO_RDATA = new Uint8Array(0)
const AS = { owner: ROOT, origin: ROOT }

/**
 * Finds a name, or the wildcard that stands for it; at the apex of the zone, the wildcard below it.
 * @param name absolute and in lower case
 * @throws {MissingShardError} if a shard is not loaded
 */
export function findHost(place: FindPlace, name: Uint8Array): FoundName | undefined {
  return findClaims(place, name).next().value
}

/** Yields all claims to the name that `findHost` finds, as far as the client sees them. */
export function* findClaims(
  place: FindPlace,
  name: Uint8Array,
): Generator<FoundName, undefined, undefined> {
  const labels = name.subarray(0, -1)
  let isFound = false
  for (const found of claimsTo(place, labels)) {
    isFound = true
    yield found
  }
  const wildcard = isFound ? undefined : wildcardFor(place, labels)
  if (wildcard !== undefined) yield* claimsTo(place, wildcard)
  return undefined
}

/** Returns whether a client sees a hostname below a name, so that the name exists (RFC 8020). */
export function hasHostBelow(place: FindPlace, name: Uint8Array): boolean {
  return isAboveHost(place, name.subarray(0, -1))
}

/** Returns what a hostname means beside its records. */
export function marksOf(found: FoundName): HostMarks {
  const [marks] = recordsOf(found, MARKS_TYPE, AS)
  return readMarks(marks?.rdata ?? NO_RDATA)
}

/**
 * Returns the labels of the wildcard that stands for a name, the closest one. Each wildcard stands
 * for one label; that of a zone for several, unless a name in between exists, and that of the
 * Gateway API for any number.
 */
function wildcardFor(place: FindPlace, labels: Uint8Array): Uint8Array | undefined {
  const zoneBytes = place.zone.length - 1
  if (labels.length === zoneBytes) return concatBytes(WILDCARD, labels)
  // The name itself, then the names above it.
  let below = labels
  for (let count = 1; below.length > zoneBytes; count++) {
    const above = below.subarray(byteAt(below, 0) + 1)
    const wildcard = concatBytes(WILDCARD, above)
    const found = claimsTo(place, wildcard).next().value
    if (found !== undefined && isCovered(place, { found, below, count })) return wildcard
    below = above
  }
  return undefined
}

type Candidate = {
  readonly found: FoundName
  /** The name that is one label below the wildcard's parent, and the name itself or above it. */
  readonly below: Uint8Array
  /** How many labels of the name the wildcard would stand for. */
  readonly count: number
}

function isCovered(place: FindPlace, { found, below, count }: Candidate): boolean {
  switch (marksOf(found).coverage) {
    case 'suffix':
      return true
    case 'label':
      return count === 1
    case 'zone': {
      // If any name between the wildcard's parent and the name exists, the one furthest up does.
      const isBetween = count > 1 && claimsTo(place, below).next().value !== undefined
      return !isBetween && !isAboveHost(place, below)
    }
  }
}

function isAboveHost({ snapshot, namespaces }: FindPlace, labels: Uint8Array): boolean {
  const key = belowKey(labels)
  const found = key && findGlue(snapshot, key)
  if (found === undefined) return false
  const { shard, node } = found
  return (
    namespaces === undefined ||
    namespaces.hasOneOf(shard, node, () =>
      recordsOf(found, BELOW_TYPE, AS).map(({ rdata }) => new TextDecoder().decode(rdata)),
    )
  )
}

/** Yields the claims to a name that the client sees, the one that wins first. */
function* claimsTo(
  { snapshot, namespaces }: FindPlace,
  labels: Uint8Array,
): Generator<FoundName, undefined, undefined> {
  for (let rank = 0; rank < CLAIMS_MAX; rank++) {
    const key = hostKey(labels, rank)
    const found = key && findName(snapshot, key)
    if (found === undefined) return undefined
    if (isSeen(found, namespaces)) yield found
  }
  return undefined
}
