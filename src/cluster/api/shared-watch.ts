/**
 * One watch of an API server for several followers: each collection is mirrored once, as long as it
 * has a follower, and all get the same objects.
 * @module
 */

import { type Metrics, metricInfo } from '../../dns/telemetry/metrics.ts'
import type { Kind } from '../objects/objects.ts'
import type { SharedBound } from '../rules/fair-shares.ts'
import type { Timing } from './backoff.ts'
import type { Reported } from './failure-reports.ts'
import { HostBudget } from './host-budget.ts'
import type { ObjectSink } from './mirrored-objects.ts'
import type { Collection, ObjectApi } from './object-api.ts'
import { Reflector } from './reflector.ts'

const AVAILABLE = metricInfo(
  'kubedoh_kubernetes_kind_available',
  'Whether the API server serves a kind that names come from and the role may read it.',
  'host resource',
)

/** Options of a shared watch. */
export type SharedWatchOptions = Pick<Timing, 'sleep' | 'random' | 'elapsed'> & {
  readonly api: ObjectApi
  readonly onWarning: (message: string) => void
  readonly onError: (message: string) => void
  /** Called again and again while a collection is large. */
  readonly onLarge?: () => void
  /** Bounds of the hostnames of all objects. Default: none. */
  readonly hostBounds?: SharedBound
  /** Receives whether each kind is available. */
  readonly metrics?: Metrics
}

/** A follower of a collection. */
type Follower = {
  readonly sink: ObjectSink
  /** Called when something changed, or was confirmed. */
  readonly onChange: () => void
  /** Called when an open watch is about to count as closed: until now no change was missed. */
  readonly onClose: () => void
}

/** A followed collection. */
export type Followed = {
  readonly collection: Collection
  readonly reflector: Reflector
  /** Stops following; resolves when the mirror has stopped. */
  readonly stop: () => Promise<void>
}

type Shared = {
  readonly reflector: Reflector
  readonly followers: Set<Follower>
  readonly ended: AbortController
  readonly running: Promise<void>
}

/** The watch. */
export class SharedWatch {
  private readonly options: SharedWatchOptions
  private readonly reported: Reported = new Map()
  private readonly shared = new Map<string, Shared>()
  private readonly budget: HostBudget | undefined

  constructor(options: SharedWatchOptions) {
    const { sleep, elapsed, hostBounds: bounds } = options
    this.options = options
    this.budget = bounds && new HostBudget({ sleep, elapsed, bounds })
  }

  /** Follows a collection. The follower gets all present objects at once. */
  follow(collection: Collection, follower: Follower): Followed {
    const key = `${collection.path} ${collection.fieldSelector ?? ''}`
    const known = this.shared.get(key)
    const shared = known ?? this.begin(collection)
    this.shared.set(key, shared)
    shared.followers.add(follower)
    for (const object of shared.reflector.objects()) follower.sink.set(object)
    return {
      collection,
      reflector: shared.reflector,
      stop: () => {
        shared.followers.delete(follower)
        if (shared.followers.size > 0) return Promise.resolve()
        if (this.shared.get(key) === shared) this.shared.delete(key)
        shared.ended.abort()
        this.options.metrics?.remove(AVAILABLE, this.labelsOf(collection))
        return shared.running
      },
    }
  }

  /**
   * Returns what is missing or may be old, and why: a line for each collection with a problem.
   */
  problems(): readonly string[] {
    const lines = Array.from(this.shared.values(), ({ reflector }) => reflector.problem)
    const { host } = this.options.api
    return lines.flatMap((line) => (line === undefined ? [] : [`${host}: ${line}`]))
  }

  private labelsOf({ resource }: Collection): string[] {
    return [this.options.api.host, resource]
  }

  private begin(collection: Collection): Shared {
    const followers = new Set<Follower>()
    const ended = new AbortController()
    const reflector = new Reflector({
      ...this.options,
      reported: this.reported,
      ...(this.budget && { budget: this.budget }),
      collection,
      sink: {
        set: (object) => {
          for (const { sink } of followers) sink.set(object)
        },
        delete: (kind, namespace, name) => {
          for (const { sink } of followers) sink.delete(kind, namespace, name)
        },
      },
      onChange: () => {
        if (available !== undefined) available.value = reflector.isAvailable ? 1 : 0
        for (const { onChange } of followers) onChange()
      },
      onClose: () => {
        for (const { onClose } of followers) onClose()
      },
    })
    const available = this.options.metrics?.gauge(AVAILABLE, this.labelsOf(collection))
    return { reflector, followers, ended, running: reflector.run(ended.signal) }
  }
}

/** Options of a mirror. */
type ClusterWatchOptions = {
  readonly shared: SharedWatch
  readonly collections: readonly Collection[]
  readonly sink: ObjectSink
  /** Called when something changed, with whether all collections have been listed. */
  readonly onChange: (isWhole: boolean) => void
  /**
   * Returns whether the other names are complete without a kind that the role may not read.
   * Default: no kind is optional.
   */
  readonly isOptional?: (kind: Kind) => boolean
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** The state of one collection. */
export type CollectionState = {
  readonly resource: string
  readonly count: number
  /** Present objects that cannot be parsed. */
  readonly invalid: number
  readonly lists: number
  /** Changes that watches should have reported and that lists found. */
  readonly missed: number
  readonly isConnected: boolean
  /** Whether the server serves the kind and the role may read it, as far as known. */
  readonly isAvailable: boolean
}

/** The mirror. */
export class ClusterWatch {
  private readonly options: ClusterWatchOptions
  private followed: readonly Followed[] = []
  private confirmed: number | undefined

  constructor(options: ClusterWatchOptions) {
    this.options = options
  }

  /** Returns whether all collections have been listed once, but for forbidden optional ones. */
  get hasSynced(): boolean {
    const { collections } = this.options
    return (
      this.followed.length === collections.length &&
      this.followed.every((one) => one.reflector.hasSynced || this.isDispensable(one))
    )
  }

  /**
   * When the objects were last known to be current, in milliseconds since 1970: now, as long as all
   * watches are open, but for forbidden optional ones. `undefined` before the first time.
   */
  confirmedMs(): number | undefined {
    const isCurrent = this.followed.every(
      (one) => one.reflector.isConnected || this.isDispensable(one),
    )
    if (this.hasSynced && isCurrent) this.confirmed = this.options.now()
    return this.confirmed
  }

  private isDispensable({ collection, reflector }: Followed): boolean {
    return reflector.isForbidden && this.options.isOptional?.(collection.kind) === true
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
    return this.followed.map(({ collection: { resource }, reflector }) => {
      const { count, invalid, listCount: lists, missed, isConnected, isAvailable } = reflector
      return { resource, count, invalid, lists, missed, isConnected, isAvailable }
    })
  }

  /** Returns whether the server serves one of these kinds, as far as known. */
  servesOneOf(kinds: ReadonlySet<Kind>): boolean {
    return this.followed.some(
      ({ collection, reflector }) => kinds.has(collection.kind) && reflector.isServed,
    )
  }

  /** Follows the cluster until `signal` ends it. */
  async run(signal: AbortSignal): Promise<void> {
    const { shared, collections, sink, onChange } = this.options
    const follower: Follower = {
      sink,
      onChange: () => onChange(this.hasSynced),
      onClose: () => void this.confirmedMs(),
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
