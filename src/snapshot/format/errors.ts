/**
 * What can be wrong with a snapshot.
 * @module
 */

/** A shard or a manifest that cannot be used; what was serving goes on serving. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError'
}
