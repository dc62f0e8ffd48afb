/**
 * One watch of an API server for several followers: each collection is mirrored once, as long as it
 * has a follower, and all get the same objects.
 * @module
 */
import type { Sleep } from './backoff.ts'
import type { Collection, ObjectApi } from './object-api.ts'
import { type ObjectSink, Reflector } from './reflector.ts'

/** Options of a shared watch. */
export type SharedWatchOptions = {
  readonly api: ObjectApi
  readonly onWarning: (message: string) => void
  readonly onError: (message: string) => void
  readonly sleep: Sleep
  /** Returns a number from 0 to 1. */
  readonly random: () => number
}

/** A follower of a collection. */
export type Follower = {
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
  private readonly reported = new Set<string>()
  private readonly shared = new Map<string, Shared>()

  constructor(options: SharedWatchOptions) {
    this.options = options
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
        return shared.running
      },
    }
  }

  private begin(collection: Collection): Shared {
    const followers = new Set<Follower>()
    const ended = new AbortController()
    const reflector = new Reflector({
      ...this.options,
      reported: this.reported,
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
        for (const { onChange } of followers) onChange()
      },
      onClose: () => {
        for (const { onClose } of followers) onClose()
      },
    })
    return { reflector, followers, ended, running: reflector.run(ended.signal) }
  }
}
