/**
 * The zones of a gateway that several clusters have together, and where these contradict each other
 * there (KEP-1645 "Conflict resolution"), for operators.
 * @module
 */

import type { SnapshotSource } from '../chain/host.ts'
import type { KubernetesOptions } from '../corefile/kubernetes-options.ts'
import { formatName } from '../dns/name.ts'
import {
  type Conflict,
  conflictAmong,
  readShape,
  type ServiceShape,
  winnersOf,
} from '../plugins/kubernetes/shared-service.ts'
import type { Shard } from '../snapshot/read/shard.ts'

/** Trees that make up such a zone: what ServiceImports say, and what clusters export. */
type SharedTree = 'multicluster' | 'exports'

/**
 * Why a word is answered: those who contradict it are old and have no part (`fresh`), an address
 * comes before endpoints (`type`), it is the first of several addresses in the order of the
 * directive (`order`), endpoints are those of all (`endpoints`).
 */
export type Reason = 'fresh' | 'type' | 'order' | 'endpoints'

/** A Service that clusters have differently. */
export type ServiceConflict = {
  readonly namespace: string
  readonly service: string
  readonly conflict: Conflict
  readonly clusters: readonly (ServiceShape & {
    readonly cluster: string
    /** Whether its word is answered. */
    readonly wins: boolean
  })[]
  readonly reason: Reason
}

/** The conflicts of the zones of one directive. */
export type ZoneConflicts = {
  readonly zones: readonly string[]
  /** In the order in which they count. */
  readonly clusters: readonly { readonly cluster: string; readonly freshness: string }[]
  readonly conflicts: readonly ServiceConflict[]
  /** Whether these are all: every cluster could be read, and there are not too many. */
  readonly isWhole: boolean
}

type Member = { readonly cluster: string; readonly readers: Map<SharedTree, SnapshotSource> }
type Group = { readonly options: KubernetesOptions; readonly members: Member[] }
/** A cluster's word on a Service. */
type Word = { readonly cluster: string; readonly isFresh: boolean; readonly shape: ServiceShape }

const CONFLICTS_MAX = 1000
const SERVICES_MAX = 100_000

/** What a gateway has of such zones. */
export class MergedClusters {
  private readonly groups = new Map<readonly string[], Group>()
  private readonly readers = new Set<SnapshotSource>()

  /** Takes the reader of a tree of one of a directive's clusters. */
  add(options: KubernetesOptions, tree: string, reader: SnapshotSource): void {
    const { cluster = '', clusters } = options
    this.readers.add(reader)
    const group = this.groups.get(clusters) ?? { options, members: [] }
    this.groups.set(clusters, group)
    const known = group.members.find((one) => one.cluster === cluster)
    const member = known ?? { cluster, readers: new Map() }
    if (known === undefined) group.members.push(member)
    if (tree === 'multicluster' || tree === 'exports') member.readers.set(tree, reader)
  }

  /** Whether a reader is of such a zone. */
  has(reader: SnapshotSource): boolean {
    return this.readers.has(reader)
  }

  /** Number of readers. */
  get size(): number {
    return this.readers.size
  }

  /** Reads all snapshots of these zones, and lists what is contradictory in them. */
  conflicts(): Promise<readonly ZoneConflicts[]> {
    return Promise.all([...this.groups.values()].map(conflictsOf))
  }
}

async function conflictsOf({ options, members }: Group): Promise<ZoneConflicts> {
  const [imports, exports] = [new Map<string, Word[]>(), new Map<string, Word[]>()]
  let isWhole = true
  for (const { cluster, readers } of members) {
    for (const [tree, reader] of readers) {
      const into = tree === 'multicluster' ? imports : exports
      isWhole = (await readWords(cluster, reader, into)) && isWhole
    }
  }
  const conflicts: ServiceConflict[] = []
  for (const [name, words] of [
    ...imports,
    ...[...exports].filter(([name]) => !imports.has(name)),
  ]) {
    const found = describeConflict(name, words, options.stale)
    if (found === undefined) continue
    if (conflicts.length >= CONFLICTS_MAX) isWhole = false
    else conflicts.push(found)
  }
  return {
    zones: options.zones.map((zone) => formatName(zone)),
    clusters: members.map(({ cluster, readers }) => {
      return { cluster, freshness: readers.get('multicluster')?.freshness() ?? 'expired' }
    }),
    conflicts,
    isWhole,
  }
}

/** Reads what a cluster says of Services. @returns whether that was all */
async function readWords(
  cluster: string,
  reader: SnapshotSource,
  into: Map<string, Word[]>,
): Promise<boolean> {
  const snapshot = reader.current() ?? (await reader.load())
  const freshness = reader.freshness()
  if (snapshot === undefined || freshness === 'expired') return false
  let isWhole = true
  for (const [index, here] of snapshot.shards.entries()) {
    const shard = here ?? (await reader.load(index))?.shards[index]
    if (shard === undefined) isWhole = false
    for (const [name, shape] of shard === undefined ? [] : servicesOf(shard)) {
      const words = into.get(name) ?? []
      words.push({ cluster, isFresh: freshness === 'fresh', shape })
      if (into.size >= SERVICES_MAX && words.length === 1) isWhole = false
      else into.set(name, words)
    }
  }
  // A newer snapshot may have come between two shards.
  return isWhole && (reader.current() ?? snapshot).info.generation === snapshot.info.generation
}

/** Lists the Services of a shard, as `<service>.<namespace>`. */
function* servicesOf(shard: Shard): Generator<[name: string, shape: ServiceShape]> {
  for (const node of shard.nodes()) {
    const start = shard.nameOffset(node)
    const labels = shard.bytes.subarray(start, start + shard.nameBytes(node))
    const [, name] = /^([^.]+\.[^.]+)\.svc\.$/.exec(formatName(Uint8Array.of(...labels, 0))) ?? []
    const shape = name === undefined ? undefined : readShape(shard, node)
    if (name !== undefined && shape !== undefined) yield [name, shape]
  }
}

function describeConflict(
  name: string,
  words: readonly Word[],
  stale: KubernetesOptions['stale'],
): ServiceConflict | undefined {
  const conflict = conflictAmong(words.map(({ shape }) => shape))
  if (conflict === undefined) return undefined
  const fresh = words.filter(({ isFresh }) => isFresh)
  const asked = stale === 'union' && fresh.length > 0 ? fresh : words
  const winners = winnersOf(asked)
  const [service = '', namespace = ''] = name.split('.')
  return {
    namespace,
    service,
    conflict,
    clusters: words.map((word) => {
      return { cluster: word.cluster, ...word.shape, wins: winners.includes(word) }
    }),
    reason: reasonOf(words, asked, winners),
  }
}

function reasonOf(
  words: readonly Word[],
  asked: readonly Word[],
  [winner]: readonly Word[],
): Reason {
  if (conflictAmong(asked.map(({ shape }) => shape)) === undefined) return 'fresh'
  if (winner?.shape.type !== 'ClusterSetIP') return 'endpoints'
  const addresses = words.filter(({ shape }) => shape.type === 'ClusterSetIP')
  return addresses.length > 1 ? 'order' : 'type'
}
