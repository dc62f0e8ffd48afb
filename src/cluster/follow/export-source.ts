/**
 * The source of an exporter: a watched cluster, or objects from files.
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { inSlices } from '../../dns/bytes/steps.ts'
import type { Metrics } from '../../dns/telemetry/metrics.ts'
import type { RRset } from '../../snapshot/records/zone-entry.ts'
import { collectionsFor } from '../api/object-api.ts'
import {
  ClusterWatch,
  type CollectionState,
  SharedWatch,
  type SharedWatchOptions,
} from '../api/shared-watch.ts'
import type { ClusterObject, Kind, Pod } from '../objects/objects.ts'
import type { NamingOptions } from '../objects/options.ts'
import { type ClusterBuilder, TreeBuilders } from './cluster-builder.ts'
import { HeldChanges } from './held-changes.ts'
import type { KeyTree } from './key-tree.ts'
import { ProgrammingLatency } from './programming-latency.ts'
import type { BuiltSnapshot } from './snapshot-builder.ts'

/** The objects for snapshots, and how current they are. */
export type ExportSource = {
  /**
   * Builds a snapshot of the present objects.
   * @throws {SnapshotError} if they are more than a snapshot can hold
   */
  readonly build: () => BuiltSnapshot | Promise<BuiltSnapshot>
  /** Resource versions of the collections. */
  readonly sources: () => Readonly<Record<string, string>>
  /** When the objects were last known to be current (Unix ms); `undefined` at first. */
  readonly confirmedMs: () => number | undefined
  readonly states: () => readonly CollectionState[]
  /** Notes that the gateway has the last snapshot. */
  readonly acknowledged: () => void
  /** Follows the changes until `signal` ends it. */
  readonly run: (signal: AbortSignal) => Promise<void>
}

/** Objects that change only by `set` and `delete`. */
export type ObjectSource = Omit<ExportSource, 'build'> & {
  readonly build: () => BuiltSnapshot
  readonly set: (object: ClusterObject) => void
  readonly delete: (kind: Kind, namespace: string, name: string) => void
  /** Returns the records of a zone transfer. */
  readonly transferRecords: () => Iterable<RRset>
  /** Finds the Pod that runs at a client's address. */
  readonly podAt: (client: string) => Pod | undefined
  readonly serviceState: ClusterBuilder['serviceState']
}

type ObjectSourceOptions = {
  readonly naming: NamingOptions
  /** Other trees that are published with it, by name. */
  readonly trees?: Readonly<Record<string, NamingOptions>>
  /** The keys of an etcd, published with it. */
  readonly keys?: KeyTree | undefined
  /** Called with each object that DNS cannot name, once until that changes. */
  readonly onWarning: (message: string) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}

type WatchSourceOptions = ObjectSourceOptions &
  SharedWatchOptions & { readonly onChange: () => void; readonly metrics: Metrics }

/**
 * Kinds that most names come from. Without the right to read one of them nothing is published:
 * it would remove the names of the last publication.
 */
const ESSENTIAL_KINDS: ReadonlySet<Kind> = new Set(['Namespace', 'Service', 'EndpointSlice', 'Pod'])

/** A source that watches an API server. */
type WatchSource = ExportSource & {
  /** Takes an object that is in no API server, such as the canary. */
  readonly set: (object: ClusterObject) => void
}

/**
 * Returns a source that watches an API server. It builds in slices: Leases and requests for its
 * state do not wait, and changes wait for the end.
 */
export function createWatchSource(options: WatchSourceOptions): WatchSource {
  const { naming, onWarning, trees = {}, keys } = options
  const builders = new TreeBuilders({ naming, onWarning, trees, keys })
  const { main } = builders
  const latency = new ProgrammingLatency(options.metrics, options.now)
  const held = new HeldChanges()
  const { elapsed } = options
  const all = [naming, ...Object.values(trees)].flatMap(collectionsFor)
  const watch = new ClusterWatch({
    shared: new SharedWatch(options),
    collections: [...new Map(all.map((one) => [one.path, one])).values()],
    sink: {
      set: (object) =>
        held.apply(() => {
          const slice = object.kind === 'EndpointSlice' ? object : undefined
          const isNews = watch.hasSynced && slice && slice.triggeredMs > main.triggeredMsOf(slice)
          builders.set(object)
          if (isNews) latency.changed(slice)
        }),
      delete: (...key) => held.apply(() => builders.delete(...key)),
    },
    onChange: (isWhole) => {
      if (isWhole) options.onChange()
    },
    isOptional: (kind) => !ESSENTIAL_KINDS.has(kind),
    now: options.now,
  })
  return {
    set: (object) => held.apply(() => builders.set(object)),
    build: async () => {
      latency.take()
      held.hold()
      try {
        const turns = { elapsed, nextTurn: setImmediate }
        return await inSlices(builders.buildInSteps(), turns, () => held.areMany)
      } finally {
        held.release()
      }
    },
    acknowledged: () => latency.answered((slice) => main.serviceOf(slice)),
    sources: () => watch.sources(),
    confirmedMs: () => (keys?.isAwaited ? undefined : watch.confirmedMs()),
    states: () => watch.states(),
    run: (signal) => watch.run(signal),
  }
}

/** Returns a source of objects that no API server has. */
export function createObjectSource(
  objects: readonly ClusterObject[],
  { naming, onWarning, trees = {}, keys, now }: ObjectSourceOptions,
): ObjectSource {
  const builders = new TreeBuilders({ naming, onWarning, trees, keys })
  for (const object of objects) builders.set(object)
  let built: BuiltSnapshot | undefined
  return {
    set: (object) => {
      builders.set(object)
      built = undefined
    },
    delete: (...key) => {
      builders.delete(...key)
      built = undefined
    },
    build: () => {
      if (built === undefined || keys !== undefined) built = builders.build()
      return built
    },
    transferRecords: () => builders.main.transferRecords(),
    podAt: (client) => builders.main.podAt(client),
    serviceState: (namespace, name) => builders.main.serviceState(namespace, name),
    sources: () => ({}),
    confirmedMs: () => (keys?.isAwaited ? undefined : now()),
    states: () => [],
    acknowledged: () => undefined,
    run: () => Promise.resolve(),
  }
}
