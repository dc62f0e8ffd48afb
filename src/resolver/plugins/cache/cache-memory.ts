/**
 * The memory that the caches of a process share: a Corefile may have a cache in each of many server
 * blocks, in a container with room for few that are full.
 * @module
 */
import type { Metrics } from '../../../dns/telemetry/metrics.ts'

/** Part of the memory limit for all caches without `max_bytes`. */
const SHARE = 1 / 4

/** A store, as far as memory goes. */
export type SharingStore = {
  readonly size: number
  readonly bytes: number
  /** Drops an entry. */
  readonly evict: () => void
}

/** Stores that share memory; the largest of them makes room. */
export class CacheMemory {
  private readonly bytesMax: number
  private readonly stores = new Set<SharingStore>()
  private bytes = 0

  /** @param limitBytes the memory limit of the process */
  constructor(limitBytes: number = Infinity) {
    this.bytesMax = limitBytes * SHARE
  }

  /** Counts a change of a store. */
  change(store: SharingStore, bytes: number): void {
    this.bytes += bytes
    if (store.size > 0) this.stores.add(store)
    else this.stores.delete(store)
  }

  /** Evicts entries of the largest stores while there are too many bytes. */
  makeRoom(): void {
    while (this.bytes > this.bytesMax) {
      const [first, ...others] = this.stores
      if (first === undefined) return
      others.reduce((most, one) => (one.bytes > most.bytes ? one : most), first).evict()
    }
  }
}

/**
 * The memory of a process, across all directives and reloads. The metrics stand for the process:
 * each directive has a host of its own.
 */
const MEMORIES = new WeakMap<Metrics, CacheMemory>()

/** Returns the shared memory of a process. */
export function cacheMemoryOf(metrics: Metrics, limitBytes?: number): CacheMemory {
  const known = MEMORIES.get(metrics)
  if (known !== undefined) return known
  const memory = new CacheMemory(limitBytes)
  MEMORIES.set(metrics, memory)
  return memory
}
