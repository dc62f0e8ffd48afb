/**
 * A cluster, mirrored: a reflector for each collection that names come from.
 * @module
 */
import type { Kind } from '../kubernetes/objects.ts'
import type { Sleep } from './backoff.ts'
import type { Collection, ObjectApi } from './object-api.ts'
import { type ObjectSink, Reflector } from './reflector.ts'

/** What a mirror needs. */
export type ClusterWatchOptions = {
  readonly api: ObjectApi
  readonly collections: readonly Collection[]
  readonly sink: ObjectSink
  /** Something changed; not called before all collections have been listed. */
  readonly onChange: () => void
  readonly onWarning: (message: string) => void
  readonly onError: (message: string) => void
  readonly sleep: Sleep
  /** A number from 0 to 1. */
  readonly random: () => number
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** What is known of one collection. */
export type CollectionState = {
  readonly kind: Kind
  readonly resource: string
  readonly count: number
  readonly lists: number
  readonly isConnected: boolean
}

/** The mirror. */
export class ClusterWatch {
  private readonly options: ClusterWatchOptions
  private readonly reflectors: readonly (readonly [Collection, Reflector])[]
  private confirmed: number | undefined

  constructor(options: ClusterWatchOptions) {
    this.options = options
    this.reflectors = options.collections.map((collection) => [
      collection,
      new Reflector({
        ...options,
        collection,
        onChange: () => {
          if (this.hasSynced) options.onChange()
        },
        onClose: () => {
          this.confirmedMs()
        },
      }),
    ])
  }

  /** Whether all collections have been listed once. */
  get hasSynced(): boolean {
    return this.reflectors.every(([, reflector]) => reflector.hasSynced)
  }

  /**
   * When all that we have was last known to be what the API server says, in milliseconds since
   * 1970: now, as long as all watches are open. `undefined` before the first time.
   */
  confirmedMs(): number | undefined {
    if (this.hasSynced && this.reflectors.every(([, { isConnected }]) => isConnected)) {
      this.confirmed = this.options.now()
    }
    return this.confirmed
  }

  /** Versions of the collections, as a manifest says them. */
  sources(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.reflectors.map(([{ resource }, { resourceVersion }]) => [resource, resourceVersion]),
    )
  }

  /** What is known of each collection, for metrics. */
  states(): readonly CollectionState[] {
    return this.reflectors.map(([{ kind, resource }, { count, listCount, isConnected }]) => ({
      kind,
      resource,
      count,
      lists: listCount,
      isConnected,
    }))
  }

  /** Runs until `signal` ends it. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.reflectors.map(([, reflector]) => reflector.run(signal)))
  }
}
