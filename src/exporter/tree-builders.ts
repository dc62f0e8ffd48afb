/**
 * Builds the main tree of a cluster and the trees that are published with it, from the same
 * objects.
 * @module
 */
import type { ClusterObject, Kind } from '../kubernetes/objects/objects.ts'
import type { NamingOptions } from '../kubernetes/objects/options.ts'
import type { RRset } from '../records/zone-entry.ts'
import { ClusterBuilder } from './cluster-builder.ts'
import type { ObjectSink } from './reflector.ts'
import type { BuiltSnapshot } from './snapshot-builder.ts'

/** Options of tree builders. */
export type TreeBuildersOptions = {
  readonly naming: NamingOptions
  /** The other trees, by name. */
  readonly trees: Readonly<Record<string, NamingOptions>>
  /** Called with each object that DNS cannot name, once until that changes. */
  readonly onWarning: (warning: string) => void
}

/** Receives objects and builds snapshots with all trees. */
export class TreeBuilders implements ObjectSink {
  private readonly main: ClusterBuilder
  private readonly others: readonly (readonly [string, ClusterBuilder])[]

  constructor({ naming, trees, onWarning }: TreeBuildersOptions) {
    this.main = new ClusterBuilder(naming, onWarning)
    this.others = Object.entries(trees).map(([name, options]) => [
      name,
      new ClusterBuilder(options, (warning) => onWarning(`${name}: ${warning}`)),
    ])
  }

  /** Adds or replaces an object. */
  readonly set = (object: ClusterObject): void => {
    this.main.set(object)
    for (const [, builder] of this.others) builder.set(object)
  }

  /** Removes an object. */
  readonly delete = (kind: Kind, namespace: string, name: string): void => {
    this.main.delete(kind, namespace, name)
    for (const [, builder] of this.others) builder.delete(kind, namespace, name)
  }

  /**
   * Builds a snapshot of the present objects.
   * @throws {SnapshotError} if they are more than a snapshot can hold
   */
  build(): BuiltSnapshot {
    const built = this.main.build()
    if (this.others.length === 0) return built
    const trees = this.others.map(([name, builder]) => {
      const { shards, records, ttlSeconds } = builder.build()
      return [name, { shards, records, ttlSeconds }] as const
    })
    return { ...built, trees: { ...built.trees, ...Object.fromEntries(trees) } }
  }

  /** Returns the records of a transfer of the main tree's zone. */
  transferRecords(): Iterable<RRset> {
    return this.main.transferRecords()
  }

  /** Finds the Pod that has an address, if the main tree reads Pods. */
  podAt(client: string): ReturnType<ClusterBuilder['podAt']> {
    return this.main.podAt(client)
  }
}
