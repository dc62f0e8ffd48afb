/**
 * What an origin sends to those who follow it: the manifest that it serves, and shards that
 * changed.
 * @module
 */
import { allShards } from '../../snapshot/format/manifest.ts'
import { type ClusterStore, manifestOf, type ServedManifest } from './store.ts'

/** Most shards in an update, and the most bytes of all of them; followers read the others. */
const SHARDS_MAX = 16
const SHARD_BYTES_MAX = 512 * 1024
/** Manifests that are looked at: followers have the one before, or read the shards themselves. */
const MANIFESTS_MAX = 2

/** An update. */
export type SnapshotUpdate = {
  /** Absent when the follower has what is served. */
  readonly manifest?: ServedManifest
  /** Shards that the follower may lack. */
  readonly shards?: readonly Uint8Array[]
}

/**
 * Returns the version of a served manifest, which no other one has; '' for none. It begins with the
 * generation: a confirmation has another signature, and the same shards.
 */
export function versionOf(served: ServedManifest | undefined, generation: number): string {
  if (served === undefined) return ''
  const { signature, isPinned } = served
  return `${generation} ${signature}${isPinned === true ? ' pinned' : ''}`
}

/**
 * Reads the shards of a served manifest that the one before lacks.
 * @param known the version of the manifest before; there are no shards for any other one
 */
export async function changedShards(
  store: Pick<ClusterStore, 'readManifests' | 'readShard'>,
  served: ServedManifest,
  known: string,
): Promise<readonly Uint8Array[]> {
  const generation = Number.parseInt(known, 10)
  // A confirmation changes no shard.
  if (generation === manifestOf(served).generation) return []
  const newest = await store.readManifests(MANIFESTS_MAX)
  const before = newest.find((one) => one.generation === generation)
  if (before === undefined) return []
  const had = new Set(allShards(manifestOf(before)).map(({ sha256 }) => sha256))
  const shards: Uint8Array[] = []
  let room = SHARD_BYTES_MAX
  for (const { sha256, bytes } of allShards(manifestOf(served))) {
    if (had.has(sha256)) continue
    had.add(sha256)
    room -= bytes
    if (room < 0 || shards.length >= SHARDS_MAX) break
    const shard = await store.readShard(sha256)
    if (shard !== undefined) shards.push(shard)
  }
  return shards
}
