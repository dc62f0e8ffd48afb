/**
 * Errors of snapshots.
 * @module
 */

/** A shard or a manifest is invalid. The previous snapshot stays in use. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError'
}
