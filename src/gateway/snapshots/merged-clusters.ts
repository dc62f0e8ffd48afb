/**
 * The zones that several clusters share, and the Services on which these clusters contradict each
 * other (KEP-1645 "Conflict resolution"), for `/v1/conflicts`.
 * @module
 */

import type { KubernetesOptions } from '../../corefile/kubernetes-options.ts'
import { createSharedPause, type Turns } from '../../dns/bytes/steps.ts'
import { formatName } from '../../dns/names/name.ts'
import type { SnapshotSource } from '../../resolver/contract/host.ts'
import {
  type Conflict,
  conflictAmong,
  readShape,
  type ServiceShape,
  winnersOf,
} from '../../resolver/plugins/kubernetes/shared-service.ts'
import type { Shard } from '../../snapshot/read/shard.ts'
import { visitShards } from './whole-snapshot.ts'

/** Trees of such a zone: from ServiceImports, and from what the clusters export. */
type SharedTree = 'multicluster' | 'exports'

/**
 * Why a cluster's declaration wins: the contradicting ones are stale and ignored (`fresh`), an
 * address precedes endpoints (`type`), it is the first of several addresses in the order of the
 * directive (`order`), or the endpoints of all clusters are merged (`endpoints`).
 */
export type ConflictReason = 'fresh' | 'type' | 'order' | 'endpoints'

/** A Service that clusters declare differently. */
export type ServiceConflict = {
  readonly namespace: string
  readonly service: string
  readonly conflict: Conflict
  readonly clusters: readonly (ServiceShape & {
    readonly cluster: string
    /** Whether queries get this cluster's declaration. */
    readonly wins: boolean
  })[]
  readonly reason: ConflictReason
}

/** The conflicts of the zones of one directive. */
export type ZoneConflicts = {
  readonly zones: readonly string[]
  /** In the order of precedence. */
  readonly clusters: readonly { readonly cluster: string; readonly freshness: string }[]
  readonly conflicts: readonly ServiceConflict[]
  /** Whether the list is complete: every cluster could be read, and no limit was reached. */
  readonly isWhole: boolean
}

type Member = { readonly cluster: string; readonly readers: Map<SharedTree, SnapshotSource> }
type Group = { readonly options: KubernetesOptions; readonly members: Member[] }
/** What a cluster declares about a Service. */
type Declaration = {
  readonly cluster: string
  readonly isFresh: boolean
  readonly shape: ServiceShape
}

const CONFLICTS_MAX = 1000
const SERVICES_MAX = 100_000

/** The shared zones of a gateway. */
export class MergedClusters {
  private readonly groups = new Map<readonly string[], Group>()
  private readonly readers = new Set<SnapshotSource>()

  /** Adds the reader of a tree of one of a directive's clusters. */
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

  /** Returns whether a reader belongs to a shared zone. */
  has(reader: SnapshotSource): boolean {
    return this.readers.has(reader)
  }

  /** Number of readers. */
  get size(): number {
    return this.readers.size
  }

  /** Reads all snapshots of these zones and lists their conflicts. */
  conflicts(turns: Turns): Promise<readonly ZoneConflicts[]> {
    return Promise.all([...this.groups.values()].map((group) => conflictsOf(group, turns)))
  }
}

async function conflictsOf({ options, members }: Group, turns: Turns): Promise<ZoneConflicts> {
  const pause = createSharedPause(turns)
  const [imports, exports] = [new Map<string, Declaration[]>(), new Map<string, Declaration[]>()]
  let isWhole = true
  for (const { cluster, readers } of members) {
    for (const [tree, reader] of readers) {
      const into = tree === 'multicluster' ? imports : exports
      isWhole = (await readDeclarations({ cluster, reader, pause }, into)) && isWhole
    }
  }
  const conflicts: ServiceConflict[] = []
  for (const [name, declarations] of [...imports, ...exports]) {
    await pause()
    if (declarations !== imports.get(name) && imports.has(name)) continue
    const found = describeConflict(name, declarations, options.stale)
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

/** Reads what a cluster declares about Services. @returns whether that is complete */
async function readDeclarations(
  {
    cluster,
    reader,
    pause,
  }: {
    readonly cluster: string
    readonly reader: SnapshotSource
    readonly pause: () => Promise<void> | undefined
  },
  into: Map<string, Declaration[]>,
): Promise<boolean> {
  let isWhole = true
  const read = (shard: Shard): void => {
    const isFresh = reader.freshness() === 'fresh'
    for (const [name, shape] of servicesOf(shard)) {
      const declarations = into.get(name) ?? []
      declarations.push({ cluster, isFresh, shape })
      if (into.size >= SERVICES_MAX && declarations.length === 1) isWhole = false
      else into.set(name, declarations)
    }
  }
  const isRead = await visitShards(reader, read, { pause })
  return isRead && isWhole
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
  declarations: readonly Declaration[],
  stale: KubernetesOptions['stale'],
): ServiceConflict | undefined {
  const conflict = conflictAmong(declarations.map(({ shape }) => shape))
  if (conflict === undefined) return undefined
  const fresh = declarations.filter(({ isFresh }) => isFresh)
  const candidates = stale === 'union' && fresh.length > 0 ? fresh : declarations
  const winners = winnersOf(candidates)
  const [service = '', namespace = ''] = name.split('.')
  return {
    namespace,
    service,
    conflict,
    clusters: declarations.map((one) => {
      return { cluster: one.cluster, ...one.shape, wins: winners.includes(one) }
    }),
    reason: reasonOf(declarations, candidates, winners),
  }
}

function reasonOf(
  declarations: readonly Declaration[],
  candidates: readonly Declaration[],
  [winner]: readonly Declaration[],
): ConflictReason {
  if (conflictAmong(candidates.map(({ shape }) => shape)) === undefined) return 'fresh'
  if (winner?.shape.type !== 'ClusterSetIP') return 'endpoints'
  const addresses = declarations.filter(({ shape }) => shape.type === 'ClusterSetIP')
  return addresses.length > 1 ? 'order' : 'type'
}
