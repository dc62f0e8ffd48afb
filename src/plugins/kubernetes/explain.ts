/**
 * What a directive says of a query for people: which snapshot its answer is from, and what that
 * has under the name. What a client may not see is as if it were not there.
 * @module
 */
import { formatName } from '../../dns/name.ts'
import type { Query } from '../../dns/query.ts'
import { formatType } from '../../dns/rr-type.ts'
import type { Snapshot } from '../../snapshot/snapshot.ts'
import type { Visibility } from '../../snapshot/visibility.ts'
import type { SnapshotSource } from '../host.ts'
import type { Fact } from '../plugin.ts'
import type { Zone } from './zone.ts'

/** Where an answer may be from. */
export type ExplainedPlace = {
  readonly zone: Zone
  readonly source: SnapshotSource
  /** Identifier of the cluster; `undefined` for one that is watched. */
  readonly cluster: string | undefined
  readonly tree: 'cluster' | 'multicluster' | 'exports'
  /** The namespaces that the client sees; `undefined` for all. */
  readonly namespaces: Visibility | undefined
}

/** Says what there is at hand for a query. Loads nothing: an answer has loaded what it needed. */
export function explainPlace(query: Query, place: ExplainedPlace): Fact {
  const { zone, source, cluster, tree, namespaces } = place
  const snapshot = source.current()
  return {
    plugin: 'kubernetes',
    zone: formatName(zone.origin.bytes),
    ...(cluster !== undefined && { cluster }),
    tree,
    freshness: snapshot === undefined ? 'missing' : source.freshness(),
    generation: snapshot?.info.generation ?? null,
    time: snapshot === undefined ? null : new Date(snapshot.info.timeMs).toISOString(),
    ...(!zone.isReverse && describeNode(query, zone, { snapshot, namespaces })),
  }
}

/** Whether there is the name, as far as its part of the snapshot is at hand. */

function describeNode(
  { name, nameBytes }: Query,
  { origin }: Zone,
  { snapshot, namespaces }: { snapshot: Snapshot | undefined; namespaces: Visibility | undefined },
): { readonly node?: Fact | null } {
  const size = nameBytes - origin.size
  const labels = name.subarray(0, size)
  const shard = snapshot?.shards[snapshot.shardOfName(labels, size)]
  if (shard === undefined) return {}
  const node = shard.findNode(labels, size)
  if (node === 0 || shard.isGlue(node)) return { node: null }
  const scope = shard.nodeScope(node)
  if (namespaces?.has(shard, scope) === false) return { node: null }
  const types = shard.refs(node).map((ref) => formatType(shard.refType(ref)))
  const namespace = shard.scopes[scope] ?? ''
  return { node: { namespace, types, isImplied: shard.isImplied(node) } }
}
