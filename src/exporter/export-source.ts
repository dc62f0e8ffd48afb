/**
 * The source of an exporter: a watched cluster, or objects from files.
 * @module
 */
import { Cluster } from '../kubernetes/objects/cluster.ts'
import type { ClusterObject, Pod } from '../kubernetes/objects/objects.ts'
import type { NamingOptions } from '../kubernetes/objects/options.ts'
import { isSelected } from '../kubernetes/objects/selection.ts'
import { transferRecords } from '../kubernetes/rules/transfer-records.ts'
import type { RRset } from '../records/zone-entry.ts'
import type { Sleep } from './backoff.ts'
import { ClusterWatch, type CollectionState } from './cluster-watch.ts'
import { collectionsFor, type ObjectApi } from './object-api.ts'
import { SharedWatch } from './shared-watch.ts'
import { type BuiltSnapshot, buildSnapshot } from './snapshot-builder.ts'
import { TreeBuilders } from './tree-builders.ts'

/** The objects for snapshots, and how current they are. */
export type ExportSource = {
  readonly build: () => BuiltSnapshot
  /** Resource versions of the collections. */
  readonly sources: () => Readonly<Record<string, string>>
  /**
   * When the objects were last known to be current, in milliseconds since 1970; `undefined` at
   * first.
   */
  readonly confirmedMs: () => number | undefined
  readonly states: () => readonly CollectionState[]
  /** Follows the changes until `signal` ends it. */
  readonly run: (signal: AbortSignal) => Promise<void>
}

/** Objects that never change. */
export type ObjectSource = ExportSource & {
  /** Returns the records of a zone transfer. */
  readonly transferRecords: () => Iterable<RRset>
  /** Finds the Pod that runs at a client's address. */
  readonly podAt: (client: string) => Pod | undefined
}

/** Options of a watched source. */
export type WatchSourceOptions = {
  readonly api: ObjectApi
  readonly naming: NamingOptions
  /** Other trees that are published with it, by name. */
  readonly trees?: Readonly<Record<string, NamingOptions>>
  readonly onChange: () => void
  readonly onWarning: (message: string) => void
  readonly onError: (message: string) => void
  readonly sleep: Sleep
  /** Returns a number from 0 to 1. */
  readonly random: () => number
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Returns a source that watches an API server. */
export function createWatchSource(options: WatchSourceOptions): ExportSource {
  const { naming, onWarning, trees = {} } = options
  const builders = new TreeBuilders({ naming, onWarning, trees })
  const all = [naming, ...Object.values(trees)].flatMap(collectionsFor)
  const watch = new ClusterWatch({
    shared: new SharedWatch(options),
    collections: [...new Map(all.map((one) => [one.path, one])).values()],
    sink: builders,
    onChange: (isWhole) => {
      if (isWhole) options.onChange()
    },
    now: options.now,
  })
  return {
    build: () => builders.build(),
    sources: () => watch.sources(),
    confirmedMs: () => watch.confirmedMs(),
    states: () => watch.states(),
    run: (signal) => watch.run(signal),
  }
}

/** Returns a source of objects that never change. */
export function createObjectSource(
  objects: readonly ClusterObject[],
  options: Pick<WatchSourceOptions, 'naming' | 'onWarning' | 'now' | 'trees'>,
): ObjectSource {
  const { naming } = options
  const isSimple = naming.tree.kind !== 'hosts' && Object.keys(options.trees ?? {}).length === 0
  const made = isSimple ? madeAtOnce : madeByBuilders
  const { build, transferRecords, podAt } = made(objects, options)
  let built: BuiltSnapshot | undefined
  return {
    build: () => {
      built ??= build()
      return built
    },
    transferRecords,
    podAt,
    sources: () => ({}),
    confirmedMs: () => options.now(),
    states: () => [],
    run: () => Promise.resolve(),
  }
}

type Made = Pick<ObjectSource, 'build' | 'transferRecords' | 'podAt'>
type MadeWith = Pick<WatchSourceOptions, 'naming' | 'onWarning' | 'trees'>

function madeAtOnce(objects: readonly ClusterObject[], { naming, onWarning }: MadeWith): Made {
  const cluster = new Cluster()
  for (const object of objects) if (isSelected(object, naming)) cluster.set(object)
  return {
    build: () => warned(buildSnapshot(cluster, naming), onWarning),
    transferRecords: () => transferRecords(cluster, naming),
    podAt: (client) => (naming.pods === 'verified' ? cluster.podAt(client) : undefined),
  }
}

/** Follows all objects: the object of a hostname depends on the others. */
function madeByBuilders(
  objects: readonly ClusterObject[],
  { naming, onWarning, trees = {} }: MadeWith,
): Made {
  const builder = new TreeBuilders({ naming, onWarning, trees })
  for (const object of objects) builder.set(object)
  return {
    build: () => builder.build(),
    transferRecords: () => builder.transferRecords(),
    podAt: (client) => builder.podAt(client),
  }
}

function warned(built: BuiltSnapshot, onWarning: (message: string) => void): BuiltSnapshot {
  for (const warning of built.warnings) onWarning(warning)
  return built
}
