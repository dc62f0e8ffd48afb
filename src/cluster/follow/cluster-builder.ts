/**
 * Builds snapshots of a cluster's selected objects. Only what changed since the last snapshot is
 * built again.
 * @module
 */
import { finish, type Steps } from '../../dns/bytes/steps.ts'
import { formatName } from '../../dns/names/name.ts'
import { LABELS_TREE } from '../../snapshot/format/manifest.ts'
import type { RRset } from '../../snapshot/records/zone-entry.ts'
import { buildShards } from '../../snapshot/write/build-shards.ts'
import { GroupedShards } from '../../snapshot/write/grouped-shards.ts'
import type { ObjectSink } from '../api/mirrored-objects.ts'
import {
  type ClusterObject,
  describeObject,
  type EndpointSlice,
  type Kind,
  type Namespace,
  type Pod,
  type Service,
} from '../objects/objects.ts'
import type { NamingOptions } from '../objects/options.ts'
import { isSelected } from '../objects/selection.ts'
import { fairShare, type SharedBound } from '../rules/fair-shares.ts'
import { HostGroups } from '../trees/host-groups.ts'
import { NameGroups } from '../trees/name-groups.ts'
import { type LabelRecords, labelRecords } from '../trees/namespace-labels.ts'
import type { RecordVerdict } from '../trees/record-verdicts.ts'
import type { KeyTree } from './key-tree.ts'
import type { BuiltSnapshot, BuiltTree } from './snapshot-builder.ts'

/** Most warnings of one build that are logged, of a namespace and of all; others are counted. */
const WARNINGS: SharedBound = { eachMax: 50, wholeMax: 100 }
/** What a warning about an object of a namespace begins with. */
const ABOUT_OBJECT = /^[A-Z]\w* ([^/ :]+)\//

/** Receives objects and builds snapshots. */
export class ClusterBuilder {
  private readonly groups: NameGroups | HostGroups
  private shards: GroupedShards
  private readonly options: NamingOptions
  private readonly onWarning: (warning: string) => void
  private readonly labels: LabelTree
  private warned: ReadonlySet<string> = new Set()

  /** @param onWarning called with each object that DNS cannot name, once until that changes */
  constructor(options: NamingOptions, onWarning: (warning: string) => void) {
    this.options = options
    this.onWarning = onWarning
    const { tree } = options
    this.groups = tree.kind === 'hosts' ? new HostGroups(tree) : new NameGroups(options)
    this.labels = new LabelTree(options)
    this.shards = this.emptyShards()
  }

  /** Adds or replaces an object; removes it if it does not match the selectors. */
  set(object: ClusterObject): void {
    if (!isSelected(object, this.options)) {
      this.delete(object.kind, object.namespace, object.name)
      return
    }
    this.groups.set(object)
    if (object.kind === 'Namespace') this.labels.set(object)
  }

  /** Removes an object. */
  delete(kind: Kind, namespace: string, name: string): void {
    this.groups.delete(kind, namespace, name)
    if (kind === 'Namespace') this.labels.delete(name)
  }

  /** Returns when the last change of the present slice of that name was triggered, or 0. */
  triggeredMsOf(slice: EndpointSlice): number {
    return this.groups.sliceLike(slice)?.triggeredMs ?? 0
  }

  /** Finds the Service that a slice belongs to. */
  serviceOf(slice: EndpointSlice): Service | undefined {
    return this.groups.serviceOf(slice)
  }

  /**
   * Builds a snapshot of the present objects.
   * @throws {SnapshotError} if they are more than a snapshot can hold; the next call builds
   * everything
   */
  build(): BuiltSnapshot {
    return finish(this.buildInSteps())
  }

  /**
   * Does what `build` does in steps, each the names of a Service or the bytes of a shard. The
   * objects must not change until the last one.
   * @throws {SnapshotError} like `build`
   */
  *buildInSteps(): Steps<BuiltSnapshot> {
    try {
      yield* this.shards.updateInSteps(yield* this.takeChanged())
    } catch (error) {
      // The shards may be half updated: the next call builds all of them.
      this.shards = this.emptyShards()
      this.groups.markAll()
      throw error
    }
    const labels = this.labels.build()
    const { conflicts } = this.groups
    const warnings = [...this.groups.warnings(), ...labels.warnings]
    this.warn(warnings.filter((warning) => !this.warned.has(warning)))
    this.warned = new Set(warnings)
    const verdicts = this.groups.verdicts()
    if (this.groups instanceof HostGroups) this.groups.endBuild()
    return {
      shards: this.shards.shards,
      records: this.shards.records,
      ttlSeconds: negativeTtl(this.options),
      origins: this.options.origins.map((origin) => formatName(origin)),
      warnings,
      ...(verdicts.length > 0 && { verdicts }),
      ...(conflicts.length > 0 && { conflicts }),
      ...(labels.tree && { trees: { [LABELS_TREE]: labels.tree } }),
    }
  }

  private *takeChanged(): Steps<readonly string[]> {
    const { groups } = this
    return groups instanceof HostGroups ? yield* groups.takeChangedInSteps() : groups.takeChanged()
  }

  /** Returns the records of a zone transfer, from the present objects. */
  transferRecords(): Iterable<RRset> {
    return this.groups.transferRecords()
  }

  /** Finds the Pod that runs at a client's address. */
  podAt(client: string): Pod | undefined {
    return this.groups.podAt(client)
  }

  /** Returns a Service and all its endpoints; `undefined` in a tree of hostnames. */
  serviceState(
    namespace: string,
    name: string,
  ): ReturnType<NameGroups['serviceState']> | undefined {
    const { groups } = this
    return groups instanceof NameGroups ? groups.serviceState(namespace, name) : undefined
  }

  /** A tenant may have any number of objects that DNS cannot name. */
  private warn(fresh: readonly string[]): void {
    const groups = Map.groupBy(fresh, (warning) => ABOUT_OBJECT.exec(warning)?.[1] ?? '')
    const share = fairShare(
      Array.from(groups.values(), ({ length }) => length),
      WARNINGS,
    )
    const logged = [...groups.values()].flatMap((own) => own.slice(0, share))
    for (const warning of logged.slice(0, WARNINGS.wholeMax)) this.onWarning(warning)
    const more = fresh.length - Math.min(logged.length, WARNINGS.wholeMax)
    if (more > 0) this.onWarning(`${more} more warnings`)
  }

  private emptyShards(): GroupedShards {
    return new GroupedShards((group, part) => this.groups.entriesOf(group, part))
  }
}

/** Returns the TTL of negative responses, in seconds. */
function negativeTtl({ tree, ttlSeconds }: NamingOptions): number {
  return 'ttlSeconds' in tree ? tree.ttlSeconds : ttlSeconds
}

/** The result of a build. */
type BuiltLabels = {
  /** `undefined` if no namespace has labels. */
  readonly tree: BuiltTree | undefined
  readonly warnings: readonly string[]
}

/** Follows namespaces; an unchanged tree keeps its arrays. */
export class LabelTree {
  private readonly options: NamingOptions
  private readonly namespaces = new Map<string, Namespace>()
  private built: BuiltLabels | undefined

  constructor(options: NamingOptions) {
    this.options = options
  }

  /** Adds or replaces a namespace. */
  set(namespace: Namespace): void {
    this.namespaces.set(namespace.name, namespace)
    this.built = undefined
  }

  /** Removes a namespace. */
  delete(name: string): void {
    if (this.namespaces.delete(name)) this.built = undefined
  }

  /** Builds the tree of the served namespaces. */
  build(): BuiltLabels {
    this.built ??= buildLabels(this.namespaces.values(), this.options)
    return this.built
  }
}

/** Builds the tree of some namespaces, those that are served. */
export function buildLabels(
  namespaces: Iterable<Namespace>,
  { namespaces: served }: NamingOptions,
): BuiltLabels {
  const all = [...namespaces].filter(({ name }) => served.size === 0 || served.has(name))
  const { entries, warnings }: LabelRecords = labelRecords(all)
  if (entries.length === 0) return { tree: undefined, warnings }
  const records = entries.reduce((sum, { rdata }) => sum + rdata.length, 0)
  return { tree: { shards: buildShards(entries), records, ttlSeconds: 0 }, warnings }
}

/** Options of tree builders. */
type TreeBuildersOptions = {
  readonly naming: NamingOptions
  /** The other trees, by name. */
  readonly trees: Readonly<Record<string, NamingOptions>>
  /** Called with each object that DNS cannot name, once until that changes. */
  readonly onWarning: (warning: string) => void
  /** The keys of an etcd, if there is one. */
  readonly keys?: KeyTree | undefined
}

/** Receives objects and builds snapshots with all trees. */
export class TreeBuilders implements ObjectSink {
  /** The builder of the cluster's own names. */
  readonly main: ClusterBuilder
  private readonly others: readonly (readonly [string, ClusterBuilder])[]
  private readonly keys: KeyTree | undefined

  constructor({ naming, trees, onWarning, keys }: TreeBuildersOptions) {
    this.keys = keys
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
    return finish(this.buildInSteps())
  }

  /** Does what `build` does in steps. The objects must not change until the last one. */
  *buildInSteps(): Steps<BuiltSnapshot> {
    const built = yield* this.main.buildInSteps()
    const etcd = this.keys?.build()
    if (this.others.length === 0 && etcd === undefined) return built
    const others: [string, BuiltSnapshot][] = []
    for (const [name, builder] of this.others) others.push([name, yield* builder.buildInSteps()])
    const trees = others.map(([name, { shards, records, ttlSeconds }]) => {
      return [name, { shards, records, ttlSeconds }] as const
    })
    return {
      ...built,
      warnings: [...built.warnings, ...others.flatMap(([, { warnings }]) => warnings)],
      ...decisionsOf(others.map(([, one]) => one)),
      trees: { ...built.trees, ...Object.fromEntries(trees), ...(etcd && { etcd }) },
    }
  }
}

/** Returns what is decided about hostnames, once if two trees have the same objects. */
function decisionsOf(
  built: readonly BuiltSnapshot[],
): Required<Pick<BuiltSnapshot, 'conflicts' | 'verdicts'>> {
  const conflicts = built.flatMap(({ conflicts = [] }) => conflicts)
  const verdicts = built.flatMap(({ verdicts = [] }) => verdicts)
  // Of one object, the last counts: a tree with other zones does not, and a refusal does.
  verdicts.sort((a, b) => weightOf(a) - weightOf(b))
  return {
    conflicts: [...new Map(conflicts.map((one) => [one.host, one])).values()],
    verdicts: [...new Map(verdicts.map((one) => [describeObject(one.object), one])).values()],
  }
}

function weightOf({ refusal }: RecordVerdict): number {
  if (refusal === undefined) return 1
  return refusal.reason === 'OutsideAllowedZones' ? 0 : 2
}
