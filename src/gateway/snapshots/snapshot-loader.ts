/**
 * Loads manifests and shards of one cluster from a store, and verifies them: rejects those with a
 * wrong signature or hash, or of another cluster.
 * @module
 */
import { equalBytes } from '../../dns/bytes/bytes.ts'
import { SnapshotError } from '../../snapshot/format/layout.ts'
import { type OpenManifest, openManifest } from '../../snapshot/format/manifest.ts'
import { isSignedBy, type PublicKey, sha256Hex } from '../../snapshot/format/signature.ts'
import { openShard } from '../../snapshot/read/open-shard.ts'
import type { Shard } from '../../snapshot/read/shard.ts'
import { type After, SharedLoads } from '../timing/shared-loads.ts'
import type { ServedManifest } from './store.ts'

/** A source of snapshots; {@link OriginOverloadError} says not to read again at once. */
export type SnapshotOrigin = {
  readonly readManifest: () => Promise<ServedManifest | undefined>
  readonly readShard: (sha256: string) => Promise<Uint8Array | undefined>
}

/** A source that has more calls than it can take: another one at once would add to them. */
export class OriginOverloadError extends Error {
  override readonly name = 'OriginOverloadError'
}

/** A verified manifest, and whether an operator pinned it. */
export type LoadedManifest = { readonly manifest: OpenManifest; readonly isPinned: boolean }

/** What a loader needs. */
export type LoaderOptions = {
  readonly cluster: string
  readonly publicKey: PublicKey
  readonly origin: SnapshotOrigin
  readonly after: After
}

/** Loads the snapshots of one cluster. */
export class SnapshotLoader {
  private readonly options: LoaderOptions
  private readonly manifests: SharedLoads<LoadedManifest | undefined>
  private readonly shards: SharedLoads<Shard | undefined>
  /** The last verified manifest, and its bytes. */
  private last: { readonly signed: ServedManifest; readonly manifest: OpenManifest } | undefined

  constructor(options: LoaderOptions) {
    this.options = options
    this.manifests = new SharedLoads(options.after)
    this.shards = new SharedLoads(options.after)
  }

  /**
   * Loads the manifest; `undefined` where nothing is published.
   * @throws {Error} when it cannot be read or verified
   */
  manifest(): Promise<LoadedManifest | undefined> {
    return this.manifests.load('', () => twice(() => this.readManifest()))
  }

  /**
   * Loads a shard by its hash; `undefined` when the store lacks it.
   * @throws {Error} when it cannot be read or verified
   */
  shard(sha256: string): Promise<Shard | undefined> {
    return this.shards.load(sha256, () => twice(() => this.readShard(sha256)))
  }

  private async readShard(sha256: string): Promise<Shard | undefined> {
    const bytes = await this.options.origin.readShard(sha256)
    if (bytes === undefined) return undefined
    if ((await sha256Hex(bytes)) !== sha256) {
      throw new SnapshotError(`The stored shard ${sha256.slice(0, 12)}… has another hash`)
    }
    return openShard(bytes)
  }

  private async readManifest(): Promise<LoadedManifest | undefined> {
    const { cluster, publicKey, origin } = this.options
    const signed = await origin.readManifest()
    if (signed === undefined) return undefined
    const isPinned = signed.isPinned === true
    if (this.last !== undefined && isSame(signed, this.last.signed)) {
      return { manifest: this.last.manifest, isPinned }
    }
    if (!(await isSignedBy(publicKey, signed.bytes, signed.signature))) {
      throw new SnapshotError(`The stored manifest of cluster "${cluster}" has a wrong signature`)
    }
    const manifest = openManifest(signed.bytes)
    if (manifest.cluster !== cluster) {
      throw new SnapshotError(`The stored manifest is of cluster "${manifest.cluster}"`)
    }
    this.last = { signed, manifest }
    return { manifest, isPinned }
  }
}

/** Tries again once, but for an overload: single requests to a store fail now and then. */
async function twice<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (error instanceof OriginOverloadError) throw error
    return load()
  }
}

/** Compares the bytes too, because the store is not trusted. */
function isSame(a: ServedManifest, b: ServedManifest): boolean {
  return a.signature === b.signature && equalBytes(a.bytes, b.bytes)
}

/** About half of an isolate's 128 MB: a million records, and room for queries. */
const SHARD_MEMORY_BYTES: number = 72 * 1024 * 1024

/** A holder of shards. */
export type ShardHolder = {
  /** Returns the bytes of its shards. */
  readonly heldBytes: () => number
  /** Releases a shard that was not used recently; false when there is none. */
  readonly release: () => boolean
}

/** A common bound for several holders. */
export class ShardMemory {
  private readonly bytesMax: number
  private readonly holders = new Set<ShardHolder>()

  constructor(bytesMax: number = SHARD_MEMORY_BYTES) {
    this.bytesMax = bytesMax
  }

  /** Adds a holder. */
  add(holder: ShardHolder): void {
    this.holders.add(holder)
  }

  /** Makes the largest holders release shards until the sum is within the bound. */
  enforce(): void {
    while (this.heldBytes() > this.bytesMax) {
      const byBytes = [...this.holders].sort((a, b) => b.heldBytes() - a.heldBytes())
      if (!byBytes.some((holder) => holder.release())) return
    }
  }

  /** Returns the bytes of all holders. */
  heldBytes(): number {
    let bytes = 0
    for (const holder of this.holders) bytes += holder.heldBytes()
    return bytes
  }
}
