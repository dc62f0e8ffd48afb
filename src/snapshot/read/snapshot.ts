/**
 * A snapshot as it is served: what the manifest says of it, and its shards as far as they are
 * loaded.
 * @module
 */
import { SnapshotError } from '../format/errors.ts'
import { shardOfAddress, shardOfName } from '../format/shard-key.ts'
import type { Shard } from './shard.ts'
import type { Visibility } from './visibility.ts'

/** What a zone's answers need to know beside its records. */
export type SnapshotInfo = {
  /** Rises with every change; SOA serial. */
  readonly generation: number
  /** When the source was last known to say this, in milliseconds since 1970. */
  readonly timeMs: number
  /** TTL of negative answers and of names made from addresses, in seconds. */
  readonly ttlSeconds: number
  /** Records in all shards. */
  readonly records: number
  /**
   * Origins of the cluster itself, absolute. An alias that leads below one of them leads below the
   * origin that is asked instead. None when aliases stay as they were written.
   */
  readonly origins: readonly Uint8Array[]
  /**
   * The same for clients that see some namespaces only: generation and time are those of the last
   * confirmation that the exporter's clock called for, which changes elsewhere do not move. Absent
   * where no client is limited.
   */
  readonly limited?: SnapshotInfo
}

/** One generation of a cluster's names. A shard that is not loaded is `undefined`. */
export class Snapshot {
  readonly info: SnapshotInfo
  readonly shards: readonly (Shard | undefined)[]

  /** @throws {SnapshotError} unless there are as many shards as a power of two */
  constructor(info: SnapshotInfo, shards: readonly (Shard | undefined)[]) {
    const count = shards.length
    if (count < 1 || (count & (count - 1)) !== 0) {
      throw new SnapshotError(`Cannot open snapshot: ${count} shards, expected a power of two`)
    }
    this.info = info
    this.shards = shards
  }

  /** Index of the shard that a name belongs to. */
  shardOfName(labels: Uint8Array, size: number): number {
    return shardOfName(labels, size, this.shards.length)
  }

  /** Index of the shard that an address belongs to: the first `size` bytes, 4 or 16. */
  shardOfAddress(address: Uint8Array, size: number = address.length): number {
    return shardOfAddress(address, this.shards.length, size)
  }
}

/** Returns what a snapshot says of itself to a client; `undefined` namespaces are all. */
export function infoFor({ info }: Snapshot, namespaces: Visibility | undefined): SnapshotInfo {
  return namespaces === undefined ? info : (info.limited ?? info)
}
