/**
 * Mirrors a cluster: follows all collections that names depend on.
 * @module
 */
import type { Kind } from '../kubernetes/objects/objects.ts'
import type { Collection } from './object-api.ts'
import type { ObjectSink } from './reflector.ts'
import type { Followed, SharedWatch } from './shared-watch.ts'

/** Options of a mirror. */
export type ClusterWatchOptions = {
  readonly shared: SharedWatch
  readonly collections: readonly Collection[]
  readonly sink: ObjectSink
  /** Called when something changed, with whether all collections have been listed. */
  readonly onChange: (isWhole: boolean) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** The state of one collection. */
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
  private followed: readonly Followed[] = []
  private confirmed: number | undefined

  constructor(options: ClusterWatchOptions) {
    this.options = options
  }

  /** Returns whether all collections have been listed once. */
  get hasSynced(): boolean {
    const { collections } = this.options
    return (
      this.followed.length === collections.length &&
      this.followed.every(({ reflector }) => reflector.hasSynced)
    )
  }

  /**
   * When the objects were last known to be current, in milliseconds since 1970: now, as long as all
   * watches are open. `undefined` before the first time.
   */
  confirmedMs(): number | undefined {
    if (this.hasSynced && this.followed.every(({ reflector }) => reflector.isConnected)) {
      this.confirmed = this.options.now()
    }
    return this.confirmed
  }

  /** Returns the resource versions of the collections, for a manifest. */
  sources(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.followed.map(({ collection, reflector }) => [
        collection.resource,
        reflector.resourceVersion,
      ]),
    )
  }

  /** Returns the state of each collection, for metrics. */
  states(): readonly CollectionState[] {
    return this.followed.map(({ collection: { kind, resource }, reflector }) => {
      const { count, listCount: lists, isConnected } = reflector
      return { kind, resource, count, lists, isConnected }
    })
  }

  /** Follows the cluster until `signal` ends it. */
  async run(signal: AbortSignal): Promise<void> {
    const { shared, collections, sink, onChange } = this.options
    const follower = {
      sink,
      onChange: () => {
        onChange(this.hasSynced)
      },
      onClose: () => {
        this.confirmedMs()
      },
    }
    this.followed = collections.map((collection) => shared.follow(collection, follower))
    // Other followers may have had all collections listed.
    if (this.hasSynced) onChange(true)
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true })
      if (signal.aborted) resolve()
    })
    await Promise.all(this.followed.map(({ stop }) => stop()))
  }
}
