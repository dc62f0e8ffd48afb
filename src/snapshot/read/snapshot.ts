/**
 * A snapshot as it is served: facts from the manifest, and the shards that are loaded.
 * @module
 */
import { SnapshotError } from '../format/layout.ts'
import { shardOfAddress, shardOfName } from '../format/shard-key.ts'
import type { Shard } from './shard.ts'
import type { Visibility } from './visibility.ts'

/** The facts that responses need beside the records. */
export type SnapshotInfo = {
  /** Increases with every change; SOA serial. */
  readonly generation: number
  /** When the exporter last confirmed or changed these names, in milliseconds since 1970. */
  readonly timeMs: number
  /** TTL of negative answers and of names made from addresses, in seconds. */
  readonly ttlSeconds: number
  /**
   * Origins of the cluster itself, absolute. A CNAME target below one of them is rewritten to be
   * below the query's origin. Empty if CNAMEs stay as they are.
   */
  readonly origins: readonly Uint8Array[]
  /**
   * The same for clients that see only some namespaces: generation and time are those of the last
   * scheduled confirmation, which changes elsewhere do not move. Absent if no client is limited.
   */
  readonly limited?: SnapshotInfo
}

/** One generation of a cluster's names. A shard that is not loaded is `undefined`. */
export class Snapshot {
  readonly info: SnapshotInfo
  readonly shards: readonly (Shard | undefined)[]

  /** @throws {SnapshotError} unless the number of shards is a power of two */
  constructor(info: SnapshotInfo, shards: readonly (Shard | undefined)[]) {
    const count = shards.length
    if (count < 1 || (count & (count - 1)) !== 0) {
      throw new SnapshotError(`Cannot open snapshot: ${count} shards, expected a power of two`)
    }
    this.info = info
    this.shards = shards
  }

  /** Returns the index of a name's shard. */
  shardOfName(labels: Uint8Array, size: number): number {
    return shardOfName(labels, size, this.shards.length)
  }

  /** Returns the index of an address's shard; the address is the first `size` bytes, 4 or 16. */
  shardOfAddress(address: Uint8Array, size: number = address.length): number {
    return shardOfAddress(address, this.shards.length, size)
  }
}

/** Returns the facts that a client may learn; `undefined` namespaces are all. */
export function infoFor({ info }: Snapshot, namespaces: Visibility | undefined): SnapshotInfo {
  return namespaces === undefined ? info : (info.limited ?? info)
}
