/**
 * Zones of `cluster *`: `*.k8s.example.org` stands for a zone of each cluster, which has the
 * cluster's identifier in place of `*`.
 * @module
 */

/** The argument of `cluster` that stands for every cluster that publishes. */
export const EVERY_CLUSTER = '*'

const LABEL = [1, 0x2a]

/** Returns the zone below which each cluster has its own; `undefined` for other zones. */
export function wildcardParent(zone: Uint8Array): Uint8Array | undefined {
  const isWildcard = LABEL.every((byte, i) => zone[i] === byte)
  return isWildcard ? zone.subarray(LABEL.length) : undefined
}
