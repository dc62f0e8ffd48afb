/**
 * Maps a name of `k8s_gateway` to a name in the snapshot (k8s_gateway, gateway.go).
 * @module
 */
import { byteAt, concatBytes } from '../../bytes/bytes.ts'
import { type FoundName, findName, hasRecords } from '../../snapshot/read/find-name.ts'
import type { Snapshot } from '../../snapshot/read/snapshot.ts'

const WILDCARD = Uint8Array.of(1, 0x2a)

/**
 * Finds a name, or the wildcard that replaces its first label; at the apex of the zone, the
 * wildcard below it.
 * @param name absolute and in lower case
 * @param zone the name's zone, absolute and in lower case
 */
export function findHost(
  snapshot: Snapshot,
  name: Uint8Array,
  zone: Uint8Array,
): FoundName | undefined {
  const labels = name.subarray(0, -1)
  const own = findName(snapshot, labels)
  if (own !== undefined && hasRecords(own)) return own
  const isApex = name.length === zone.length
  const above = isApex ? labels : labels.subarray(byteAt(labels, 0) + 1)
  return findName(snapshot, concatBytes(WILDCARD, above))
}
