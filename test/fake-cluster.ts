/**
 * A cluster for tests: objects as YAML in, snapshots out, as far as they are said to be there.
 * @module
 */
import { parseAllDocuments } from 'yaml'
import { namingOptions } from '../src/cluster/follow/naming.ts'
import { Cluster } from '../src/cluster/objects/cluster.ts'
import type { ClusterObject } from '../src/cluster/objects/objects.ts'
import type { NamingOptions } from '../src/cluster/objects/options.ts'
import { parseObject } from '../src/cluster/objects/parse-object.ts'
import { isSelected } from '../src/cluster/objects/selection.ts'
import { transferRecords } from '../src/cluster/rules/transfer-records.ts'
import { HostGroups } from '../src/cluster/trees/host-groups.ts'
import { NameGroups } from '../src/cluster/trees/name-groups.ts'
import type { ClusterTree } from '../src/corefile/cluster-tree.ts'
import type { KubernetesOptions } from '../src/corefile/kubernetes-options.ts'
import { nameOf } from '../src/dns/names/name.ts'
import type { SnapshotSource } from '../src/resolver/contract/host.ts'
import { openShard } from '../src/snapshot/read/open-shard.ts'
import type { Shard } from '../src/snapshot/read/shard.ts'
import { Snapshot } from '../src/snapshot/read/snapshot.ts'
import type { ZoneEntry } from '../src/snapshot/records/zone-entry.ts'
import { buildShards } from '../src/snapshot/write/build-shards.ts'
import { clusterRecords } from './cluster/cluster-names.ts'

/** SOA serial of all snapshots in tests. */
export const GENERATION = 1767225600

/** A cluster and how much of its snapshot there is. */
export type FakeClusterOptions = {
  /** Objects as YAML: a list, or documents. */
  readonly objects: string
  /** A power of two. */
  readonly shardCount?: number
  /**
   * - `here`: the whole snapshot is at hand
   * - `later`: nothing until it is loaded
   * - `never`: nothing, and loading brings nothing
   * - `shards-later`: the snapshot without its shards, each of which can be loaded
   * - `shards-never`: the same, and loading brings nothing
   * - `shards-lost`: the same, and loading brings the snapshot without the shard again
   * - `shards-once`: the same, and only the first shard that is asked for can be loaded
   */
  readonly presence?:
    | 'here'
    | 'later'
    | 'never'
    | 'shards-later'
    | 'shards-never'
    | 'shards-lost'
    | 'shards-once'
  readonly freshness?: ReturnType<SnapshotSource['freshness']>
  /** Addresses of the name server. */
  readonly localAddresses?: readonly string[]
  /** Whether the objects are at hand, as in a server that watches its cluster. */
  readonly hasObjects?: true
  /** Which names are wanted. */
  readonly tree?: ClusterTree
}

/** Opens the cluster for a directive; `loads` gets what is asked to be loaded. */
export function openFakeCluster(
  options: FakeClusterOptions,
  directive: KubernetesOptions,
  loads: (number | undefined)[],
): SnapshotSource {
  const { presence = 'here' } = options
  const whole = buildFakeSnapshot(options, directive)
  const hollow = new Snapshot(
    whole.info,
    whole.shards.map(() => undefined),
  )
  let current = presence === 'here' ? whole : presence.startsWith('shards') ? hollow : undefined
  return {
    current: () => current,
    // A test may change it while the cluster is served.
    freshness: () => options.freshness ?? 'fresh',
    transferRecords: () => {
      const { cluster, naming } = readFakeCluster(options, directive)
      return transferRecords(cluster, naming)
    },
    podAt: (client) => {
      const { cluster, naming } = readFakeCluster(options, directive)
      return naming.pods === 'verified' ? cluster.podAt(client) : undefined
    },
    ...(options.hasObjects && {
      serviceState: (namespace, name) => {
        const groups = new NameGroups(namingOptions(directive, []))
        for (const object of objectsOf(options.objects)) groups.set(object)
        return groups.serviceState(namespace, name)
      },
    }),
    load: (shard) => {
      loads.push(shard)
      if (presence === 'later') current = whole
      const isRefused =
        presence.endsWith('never') || (presence === 'shards-once' && loads.length > 1)
      if (isRefused) return Promise.resolve(undefined)
      if (presence === 'shards-later' || presence === 'shards-once') {
        current = withShard(current ?? hollow, whole, shard)
      }
      return Promise.resolve(current)
    },
  }
}

/** Builds the snapshot that a directive asks for. */
export function buildFakeSnapshot(
  options: FakeClusterOptions,
  directive: KubernetesOptions,
): Snapshot {
  const { cluster, naming } = readFakeCluster(options, directive)
  const entries =
    naming.tree.kind === 'hosts'
      ? hostEntries(options, naming)
      : clusterRecords(cluster, naming).entries
  const shards = buildShards(entries, options.shardCount ?? 1).map((bytes) => openShard(bytes))
  const { ttlSeconds } = 'ttlSeconds' in naming.tree ? naming.tree : naming
  const origins = directive.cluster === undefined ? [] : naming.origins
  const facts = { generation: GENERATION, timeMs: 1000 * GENERATION }
  return new Snapshot({ ...facts, ttlSeconds, origins }, shards)
}

function readFakeCluster(
  { objects, localAddresses = [], tree }: FakeClusterOptions,
  directive: KubernetesOptions,
): { cluster: Cluster; naming: NamingOptions } {
  // Who pushes a cluster's snapshots calls it cluster.local, whatever the reader calls it.
  const origins = directive.cluster === undefined ? [] : [nameOf('cluster.local')]
  const options = namingOptions(directive, localAddresses, tree)
  const naming = origins.length === 0 ? options : { ...options, origins }
  const cluster = new Cluster()
  for (const object of objectsOf(objects)) if (isSelected(object, naming)) cluster.set(object)
  return { cluster, naming }
}

function hostEntries({ objects }: FakeClusterOptions, naming: NamingOptions): ZoneEntry[] {
  if (naming.tree.kind !== 'hosts') return []
  const groups = new HostGroups(naming.tree)
  for (const object of objectsOf(objects)) if (isSelected(object, naming)) groups.set(object)
  return groups.takeChanged().flatMap((name) => groups.entriesOf(name))
}

/** Objects by their text: YAML takes longer to read than all the rest of a test takes. */
const parsed = new Map<string, readonly ClusterObject[]>()

function objectsOf(text: string): readonly ClusterObject[] {
  const known = parsed.get(text) ?? parseObjects(text)
  parsed.set(text, known)
  return known
}

function parseObjects(text: string): ClusterObject[] {
  const documents = parseAllDocuments(text)
  const values: unknown[] = documents.flatMap((document) => document.toJS())
  return values.map((value) => {
    const object = parseObject(value)
    if (object === undefined) throw new TypeError(`No names come from ${JSON.stringify(value)}`)
    if (object.kind === 'problem') throw new TypeError(object.message)
    return object
  })
}

function withShard(current: Snapshot, whole: Snapshot, index: number | undefined): Snapshot {
  const shards: (Shard | undefined)[] = [...current.shards]
  if (index !== undefined) shards[index] = whole.shards[index]
  return new Snapshot(current.info, shards)
}
