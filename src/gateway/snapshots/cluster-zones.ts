/**
 * The zones that a gateway answers from the snapshots of clusters: which cluster's snapshots belong
 * to which zone, how old they are, and whether they can be answered from.
 * @module
 */
import { CLUSTER_TREE, type ClusterTree, treeName } from '../../corefile/cluster-tree.ts'
import type { KubernetesOptions } from '../../corefile/kubernetes-options.ts'
import { configError } from '../../corefile/problem.ts'
import { asWordBytes, type SizedBytes } from '../../dns/bytes/bytes.ts'
import { mapConcurrently } from '../../dns/bytes/concurrent.ts'
import type { Turns } from '../../dns/bytes/steps.ts'
import { equalNames, isSubdomain } from '../../dns/names/name.ts'
import { metricInfo, type Series } from '../../dns/telemetry/metrics.ts'
import type { Query, Refusal } from '../../dns/wire/query.ts'
import { labelledName, ZoneIndex } from '../../dns/wire/zone-index.ts'
import type { ClientVisibility } from '../../resolver/contract/client.ts'
import type {
  ClusterOpener,
  Host,
  PublishedClusters,
  SnapshotSource,
} from '../../resolver/contract/host.ts'
import type { TokenIssuer } from '../../snapshot/format/token-issuer.ts'
import { KnownClusters } from '../access/known-clusters.ts'
import type { ClusterConfig } from '../config/cluster-entry.ts'
import { publishedCluster } from '../config/compile-corefile.ts'
import type { GatewayConfig } from '../config/config.ts'
import { type KeepAlive, keepFollowing } from '../timing/follower.ts'
import type { GatewayClock } from '../timing/held-clock.ts'
import { ClusterReader } from './cluster-reader.ts'
import { type HostZoneConflicts, type HostZones, hostConflicts } from './host-conflicts.ts'
import { MergedClusters, type ZoneConflicts } from './merged-clusters.ts'
import { ShardMemory } from './shard-memory.ts'
import { SnapshotFollower, type SnapshotOrigin } from './snapshot-follower.ts'

/** What the zones need of the runtime. */
export type ClusterZonesRuntime = {
  readonly host: Pick<Host, 'after' | 'log' | 'metrics' | keyof Turns>
  /** Returns where the snapshots of a cluster are read. */
  readonly originOf: (cluster: string) => SnapshotOrigin
}

/** What the zones need of the gateway. */
type ClusterZonesOptions = {
  readonly clock: GatewayClock
  /** Returns whether the visibility of some client depends on labels of namespaces, or on RBAC. */
  readonly needsFacts: () => boolean
  /** The clusters that may publish; only those of the configuration when left out. */
  readonly clusters?: KnownClusters
  /** Reads the directory, as {@link PublishedClusters}; absent without one. */
  readonly load?: PublishedClusters['load']
}

/** A zone and the clusters whose names it has: one, or several that share it. */
export type ClusterZone = {
  readonly zone: SizedBytes
  readonly parts: {
    readonly cluster: string
    readonly tree: ClusterTree['kind']
    readonly reader: ClusterReader
  }[]
  /** The counters of these clusters. */
  readonly requests: Set<Series>
}

const REQUESTS = metricInfo(
  'kubedoh_gateway_cluster_requests_total',
  'Queries by cluster: those for the closest zone with its names.',
  'cluster',
)
const AGE = metricInfo(
  'kubedoh_snapshot_age_seconds',
  'Seconds since the source confirmed it.',
  'cluster',
)
const GENERATION = metricInfo(
  'kubedoh_snapshot_generation',
  'Generation of the snapshot.',
  'cluster',
)
const SCOPE = metricInfo(
  'kubedoh_gateway_metrics_scope',
  'Whose numbers these are: of an isolate of a Worker, one of many, or of a whole process.',
  'scope',
)
const RECORDS = metricInfo('kubedoh_snapshot_records', 'Records in the snapshot.', 'cluster')

/** Clusters and trees that are loaded at a time, and that a scrape reads though nobody queries. */
const SCRAPED_MAX = 64

/**
 * Most clusters of `cluster *` whose zones are listed: to describe a zone, its manifest is read,
 * and a Worker may make a thousand subrequests for one request.
 */
const LISTED_MAX = 500

/** The body of `/v1/conflicts`. */
type Conflicts = {
  readonly groups: readonly ZoneConflicts[]
  readonly hosts: readonly HostZoneConflicts[]
}

/** The zones of one configuration. */
export class ClusterZones {
  /** Readers of snapshots, by `CLUSTER` or `CLUSTER/TREE`. */
  readonly readers: Map<string, ClusterReader> = new Map()
  readonly followers: Map<string, SnapshotFollower> = new Map()
  /** The zones that several clusters share. */
  private readonly merged = new MergedClusters()
  private readonly config: Pick<GatewayConfig, 'clusters' | 'times'>
  private readonly runtime: ClusterZonesRuntime
  private readonly options: ClusterZonesOptions
  private readonly memory = new ShardMemory()
  /** The readers whose snapshots, or their ages, a response used since the last query. */
  private readonly used = new Set<ClusterReader>()
  /** The zones of published hostnames, and those with cluster IPs: both have the same conflicts. */
  private readonly hosts: HostZones[] = []
  private readonly inside: HostZones[] = []
  private readonly zones: ClusterZone[] = []
  /** Of directives that answer for each cluster. */
  private readonly openers: ClusterOpener[] = []
  /** The clusters that these have opened. */
  private readonly opened = new Set<string>()
  private readonly clusters: KnownClusters
  /** Ends the watch for clusters that are removed. */
  readonly stop: () => void
  private readonly index = new ZoneIndex<ClusterZone>()

  constructor(
    config: Pick<GatewayConfig, 'clusters' | 'times'>,
    runtime: ClusterZonesRuntime,
    options: ClusterZonesOptions,
  ) {
    this.config = config
    this.runtime = runtime
    this.options = options
    this.clusters = options.clusters ?? new KnownClusters(config.clusters)
    this.stop = this.clusters.onRemoval((cluster) => this.close(cluster))
  }

  /**
   * Returns the snapshots of a directive's cluster, and adds the directive's zones.
   * @throws {ConfigError} when CLUSTERS has no such cluster
   */
  open(options: KubernetesOptions, tree: ClusterTree = CLUSTER_TREE): SnapshotSource {
    const id = publishedCluster(options, [...this.config.clusters.keys()])
    const { kind } = tree
    const name = treeName(tree)
    const reader = this.readerOf(options, id, kind === 'cluster' ? undefined : name)
    if (options.clusters.length > 1) this.merged.add(options, kind, reader)
    if (kind === 'hosts') {
      const list = name === 'inside' ? this.inside : this.hosts
      list.push({ zones: options.zones, cluster: id, reader })
    }
    const isShared = kind === 'multicluster' || kind === 'exports'
    for (const zone of options.zones) {
      const isOfTree = options.multiclusterZones.some((one) => isSubdomain(zone, one)) === isShared
      if (isOfTree) this.add(zone, { cluster: id, tree: kind, reader })
    }
    return reader
  }

  /** Adds a directive that answers for each cluster; returns which clusters publish. */
  openAny(opener: ClusterOpener): PublishedClusters {
    this.openers.push(opener)
    const has = (cluster: string): boolean => {
      const isKnown = this.clusters.has(cluster)
      if (isKnown) this.opened.add(cluster)
      return isKnown
    }
    return { has, load: () => this.options.load?.() }
  }

  /** Whether a directive answers for each cluster, also for those of the directory. */
  get hasAny(): boolean {
    return this.openers.length > 0
  }

  /** Opens the zones that a client sees, of at most {@link LISTED_MAX} clusters, to list them. */
  openAll(visibility: ClientVisibility | undefined): void {
    for (const { open, zonesOf } of this.openers) {
      const isSeen = (id: string): boolean =>
        visibility === undefined || zonesOf(id).some((zone) => visibility.seesOrigin(id, zone))
      for (const id of this.clusters.ids().filter(isSeen).slice(0, LISTED_MAX)) open(id)
    }
  }

  /** Returns the zones that are open, the longest first. */
  get all(): readonly ClusterZone[] {
    return this.zones.toSorted((a, b) => b.zone.bytes.length - a.zone.bytes.length)
  }

  /** Finds the closest zone of clusters for a name. */
  closest(name: Uint8Array): ClusterZone | undefined {
    return this.index.closest(labelledName(name))
  }

  /** Finds the closest zone of clusters for a query. */
  find(query: Query | Refusal): ClusterZone | undefined {
    return query.kind === 'query' ? this.index.closest(query) : undefined
  }

  /** Counts a query for each cluster of the closest zone. */
  count(query: Query | Refusal): void {
    for (const series of this.find(query)?.requests ?? []) series.value++
  }

  /**
   * Returns the age in milliseconds of the oldest snapshot that the response to a query may come
   * from, infinite when there is none yet; `undefined` outside of the zones that the client sees.
   */
  ageMs(query: Query | Refusal, visibility: ClientVisibility | undefined): number | undefined {
    if (query.kind === 'refusal') return undefined
    const isSeen = ({ zone }: ClusterZone, cluster: string): boolean =>
      visibility === undefined || visibility.seesOrigin(cluster, zone.bytes)
    const closest = this.index.closest(query, (one) =>
      one.parts.some(({ cluster }) => isSeen(one, cluster)),
    )
    if (closest === undefined) return undefined
    let ageMs = -1
    for (const { cluster, reader } of closest.parts) {
      if (!isSeen(closest, cluster)) continue
      this.used.add(reader)
      ageMs = Math.max(ageMs, reader.ageMs(visibility?.namespaces))
    }
    return ageMs
  }

  /**
   * Follows the clusters of a query's closest zone, and those that earlier queries used, as after a
   * rewrite. A query for one cluster costs no reads of the others.
   */
  followFor(query: Query | Refusal, keepAlive: KeepAlive): void {
    for (const { reader } of this.find(query)?.parts ?? []) this.used.add(reader)
    for (const reader of this.used) keepFollowing(reader, keepAlive)
    this.used.clear()
  }

  /**
   * Reads the manifests again, when it is time, of all clusters in memory; and those of others
   * until memory has {@link SCRAPED_MAX}, so that an isolate without queries has ages too. Never
   * rejects.
   */
  async refresh(): Promise<void> {
    const all = [...this.readers.values()]
    const loaded = all.filter((one) => one.describe() !== undefined)
    const others = all.filter((one) => one.describe() === undefined)
    const some = others.slice(0, Math.max(0, SCRAPED_MAX - loaded.length))
    await Promise.all([...loaded, ...some].map((reader) => reader.load()))
  }

  /** Loads what is missing, not one by one; lists clusters whose snapshot is missing or expired. */
  async notReady(): Promise<readonly string[]> {
    const [waiting, together]: [string[], string[]] = [[], []]
    const all = [...this.readers]
    await mapConcurrently(all, SCRAPED_MAX, async ([, one]) => one.current() ?? one.load())
    for (const [id, reader] of all) {
      if (reader.freshness() !== 'expired') continue
      if (this.merged.has(reader)) together.push(id)
      else waiting.push(id)
    }
    // Clusters that share a zone stand in for each other: the gateway is ready with one of them.
    if (together.length === this.merged.size) waiting.push(...together)
    return waiting
  }

  /** Reads the snapshots whose Services or hostnames may conflict, and lists those that do. */
  async conflicts(): Promise<Conflicts> {
    const { host } = this.runtime
    const groups = await this.merged.conflicts(host)
    const more = this.inside.filter((place) => !this.hosts.some((one) => coversZones(one, place)))
    const places = [...this.hosts, ...more]
    return { groups, hosts: await Promise.all(places.map((place) => hostConflicts(place, host))) }
  }

  /** Reads a cluster's manifest at once, for gateways that know when one is published. */
  async reload(cluster: string): Promise<void> {
    for (const [key, reader] of this.readers) {
      if (key === cluster || key.startsWith(`${cluster}/`)) return void (await reader.reload())
    }
  }

  /** Returns the issuer of ServiceAccount tokens that a cluster has published. Never rejects. */
  async tokenIssuerOf(id: string): Promise<TokenIssuer | 'no cluster' | undefined> {
    const isLoaded = (await this.options.load?.()) !== false
    const follower = this.followerOf(id)
    if (follower === undefined) return isLoaded ? 'no cluster' : undefined
    await follower.look()
    return follower.loaded?.manifest.tokenIssuer
  }

  /** Returns the follower of a cluster's snapshots; `undefined` if there is no such cluster. */
  followerOf(id: string): SnapshotFollower | undefined {
    const cluster = this.clusters.find(id)
    return this.followers.get(id) ?? (cluster && this.newFollower(id, cluster))
  }

  /** Forgets a cluster that was removed, and its zones. */
  private close(cluster: string): void {
    for (const opener of this.openers) opener.close(cluster)
    this.opened.delete(cluster)
    this.followers.delete(cluster)
    const { metrics } = this.runtime.host
    const reader = this.readers.get(cluster)
    if (reader === undefined) return
    this.readers.delete(cluster)
    this.used.delete(reader)
    this.memory.remove(reader)
    for (const info of [REQUESTS, AGE, GENERATION, RECORDS]) metrics.remove(info, [cluster])
    for (const one of this.zones.filter(({ parts }) =>
      parts.some((part) => part.reader === reader),
    )) {
      this.zones.splice(this.zones.indexOf(one), 1)
      this.index.delete(one.zone.bytes)
    }
  }

  private add(zone: Uint8Array, part: ClusterZone['parts'][number]): void {
    const requests = this.runtime.host.metrics.counter(REQUESTS, [part.cluster])
    const known = this.index.get(zone)
    if (known !== undefined) {
      known.parts.push(part)
      known.requests.add(requests)
      return
    }
    const added = { zone: asWordBytes(zone), parts: [part], requests: new Set([requests]) }
    this.zones.push(added)
    this.index.set(zone, added)
  }

  private readerOf(
    options: KubernetesOptions,
    id: string,
    tree: string | undefined,
  ): ClusterReader {
    // The Corefile names clusters of CLUSTERS only: others may go.
    const isOpen = this.opened.has(id) || this.clusters.isConfigured(id)
    const cluster = isOpen ? this.clusters.find(id) : undefined
    if (cluster === undefined) throw configError(options, `CLUSTERS has no cluster "${id}"`)
    const key = tree === undefined ? id : `${id}/${tree}`
    const known = this.readers.get(key)
    if (known !== undefined) return known
    const follower = this.followers.get(id) ?? this.newFollower(id, cluster)
    const reader = new ClusterReader({
      ...this.options,
      ...(tree !== undefined && { tree }),
      cluster: id,
      follower,
      times: this.config.times,
      memory: this.memory,
      onUse: (used) => this.used.add(used),
      onError: this.reporter(key),
    })
    this.readers.set(key, reader)
    return reader
  }

  private newFollower(id: string, { publicKey }: ClusterConfig): SnapshotFollower {
    const follower = new SnapshotFollower({
      cluster: id,
      publicKey,
      origin: this.runtime.originOf(id),
      after: this.runtime.host.after,
      elapsed: this.options.clock.elapsed,
      refreshMs: this.config.times.refreshMs,
      onError: this.reporter(id),
    })
    this.followers.set(id, follower)
    return follower
  }

  private reporter(cluster: string): (error: string) => void {
    const { log } = this.runtime.host
    const message = 'cannot refresh a snapshot'
    return (error) => log({ level: 'error', message, cluster, error })
  }
}

/** Returns whether a directive has the hostnames of all zones of another one. */
function coversZones(one: HostZones, { zones, cluster }: HostZones): boolean {
  const has = (zone: Uint8Array): boolean => one.zones.some((own) => equalNames(own, zone))
  return one.cluster === cluster && zones.every(has)
}

/** Formats all metrics as texts, with the age and size of each cluster's snapshot as of now. */
export function formatGatewayMetrics(
  { metrics, isolatesRequests }: Pick<Host, 'metrics' | 'isolatesRequests'>,
  readers: ReadonlyMap<string, ClusterReader>,
): Generator<string> {
  metrics.gauge(SCOPE, [isolatesRequests ? 'isolate' : 'process']).value = 1
  for (const [cluster, reader] of readers) {
    const manifest = reader.describe()
    if (manifest === undefined) continue
    metrics.gauge(AGE, [cluster]).value = reader.ageMs() / 1000
    metrics.gauge(GENERATION, [cluster]).value = manifest.generation
    metrics.gauge(RECORDS, [cluster]).value = manifest.records
  }
  return metrics.texts()
}
