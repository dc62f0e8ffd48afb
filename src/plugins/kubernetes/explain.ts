/**
 * What a directive says of a query for people: which snapshot its answer is from, and what that
 * has under the name. What a client may not see is as if it were not there.
 * @module
 */
import { concatBytes } from '../../dns/bytes.ts'
import { formatName, ROOT } from '../../dns/name.ts'
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

/** Kinds of the objects whose names are in a tree. */
const KINDS = { cluster: 'Service', multicluster: 'ServiceImport', exports: 'Service' } as const

/** Says what there is at hand for a query. Loads nothing: an answer has loaded what it needed. */
export function explainPlace(query: Query, place: ExplainedPlace): Fact {
  const { zone, source, cluster, tree } = place
  const snapshot = source.current()
  return {
    plugin: 'kubernetes',
    zone: formatName(zone.origin.bytes),
    ...(cluster !== undefined && { cluster }),
    tree,
    freshness: snapshot === undefined ? 'missing' : source.freshness(),
    generation: snapshot?.info.generation ?? null,
    time: snapshot === undefined ? null : new Date(snapshot.info.timeMs).toISOString(),
    ...(!zone.isReverse && describeNode(query, place, snapshot)),
  }
}

/** Whether there is the name, as far as its part of the snapshot is at hand. */
function describeNode(
  { name, nameBytes }: Query,
  { zone: { origin }, namespaces, tree }: ExplainedPlace,
  snapshot: Snapshot | undefined,
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
  const object = objectOf(formatName(concatBytes(labels, ROOT)), tree)
  return { node: { namespace, object, types, isImplied: shard.isImplied(node) } }
}

/** The object that makes a relative name, with its final dot: names say it themselves. */
function objectOf(name: string, tree: ExplainedPlace['tree']): string | null {
  const [, branch, namespace, service, endpoint] = name.split('.').reverse()
  if (namespace === undefined) return null
  if (service === undefined) return `Namespace ${namespace}`
  if (branch === 'pod') return `Pod at ${service} in ${namespace}`
  const object = `${KINDS[tree]} ${namespace}/${service}`
  const isEndpoint = endpoint !== undefined && !endpoint.startsWith('_')
  return isEndpoint ? `EndpointSlices of ${object}` : object
}
