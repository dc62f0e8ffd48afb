/**
 * What a gateway has room for in its directory of clusters.
 * @module
 */
import { listOf, parseJson, recordOf } from '../../dns/bytes/unknown.ts'
import { formatName } from '../../dns/names/name.ts'
import { type DirectoryEntry, WITH_ISSUERS_MAX } from '../access/cluster-directory.ts'
import { SAME_NAME_MAX } from '../access/issuers.ts'
import type { clusterPlaces } from '../config/directive-zones.ts'
import { HttpError } from '../doh/http-error.ts'

/** Checks that a cluster gets a zone of its own. @throws {HttpError} 409 */
export function checkPlace({ zones, taken }: ReturnType<ReturnType<typeof clusterPlaces>>): void {
  if (zones.length === 0) {
    const message = 'The Corefile has no zone for it: a "kubernetes" directive with "cluster *"'
    throw new HttpError(409, 'no_zone', message)
  }
  const [zone] = taken
  if (zone === undefined) return
  const message = `The Corefile has a zone ${formatName(zone)} already`
  throw new HttpError(409, 'zone_taken', message)
}

/**
 * Bounds what gateways hold in memory, and what one wrong token has them check. Of requests that
 * come at once, each may pass; gateways take no more than the bounds.
 * @param listed the directory; entries of it that are in `wanted` do not count
 * @throws {HttpError} 409
 */
export function checkIssuerRoom(
  listed: readonly DirectoryEntry[],
  wanted: readonly Pick<DirectoryEntry, 'id' | 'issuers'>[],
): void {
  const ids = new Set(wanted.map(({ id }) => id))
  const withIssuers = listed.filter(({ id, issuers }) => issuers !== undefined && !ids.has(id))
  let room = WITH_ISSUERS_MAX - withIssuers.length
  const counts = new Map<string, number>()
  const count = (name: string): number => {
    const before = counts.get(name) ?? 0
    counts.set(name, before + 1)
    return before
  }
  for (const { issuers } of withIssuers) for (const name of namesOf(issuers)) count(name)
  for (const { issuers } of wanted) {
    if (issuers === undefined) continue
    if (room-- <= 0) {
      const message = `${WITH_ISSUERS_MAX} clusters have issuers; remove those of others first`
      throw new HttpError(409, 'too_many', message)
    }
    for (const name of new Set(namesOf(issuers))) {
      if (count(name) < SAME_NAME_MAX) continue
      const message = `${SAME_NAME_MAX} issuers of clusters are called "${name}"`
      throw new HttpError(409, 'too_many', message)
    }
  }
}

/** Returns what the issuers of a list are called. */
function namesOf(issuers = '[]'): readonly string[] {
  return listOf(parseJson(issuers)).map((one) => String(recordOf(one).issuer))
}
