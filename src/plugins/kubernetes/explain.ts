/**
 * Explains a query for people: which snapshot the answer comes from, and what that snapshot has at
 * the name. Invisible names are reported as nonexistent.
 * @module
 */
import { concatBytes, EMPTY, equalBytes } from '../../bytes/bytes.ts'
import type { ClientVisibility } from '../../chain/client.ts'
import type { SnapshotSource } from '../../chain/host.ts'
import { andThen, type MaybePromise } from '../../chain/maybe-promise.ts'
import type { Fact } from '../../chain/plugin.ts'
import { formatName, ROOT } from '../../dns/name.ts'
import type { Query } from '../../dns/query.ts'
import { formatType } from '../../dns/rr-type.ts'
import { NS_DNS, SERVER_CHOICES } from '../../records/server-choice.ts'
import type { FoundName } from '../../snapshot/read/find-name.ts'
import { infoFor, type Snapshot } from '../../snapshot/read/snapshot.ts'
import type { Visibility } from '../../snapshot/read/visibility.ts'
import { seenServers } from './server-answer.ts'
import { withShards } from './with-snapshot.ts'
import type { Zone } from './zone.ts'

/** The labels of `ns.dns` without `ns`. */
const DNS = NS_DNS.subarray(3)

/** The first type for private use (RFC 6895 §3.1). */
const PRIVATE_TYPES = 0xff00

/** A snapshot that may answer. */
export type ExplainedPlace = {
  readonly zone: Zone
  readonly source: SnapshotSource
  /** Identifier of the cluster; `undefined` for a watched cluster. */
  readonly cluster: string | undefined
  readonly tree: 'cluster' | 'multicluster' | 'exports'
  /** The client's visibility; `undefined` for everything. */
  readonly visibility: ClientVisibility | undefined
}

/** The kinds of objects whose names each tree holds. */
const KINDS = { cluster: 'Service', multicluster: 'ServiceImport', exports: 'Service' } as const

/** Returns the facts about a query. Loads the name's shard; omits what cannot be loaded. */
export function explainPlace(query: Query, place: ExplainedPlace): MaybePromise<readonly Fact[]> {
  const { zone, source } = place
  const labels = query.name.subarray(0, query.nameBytes - zone.origin.size)
  if (zone.isReverse) return [describe(labels, place)]
  return andThen(loadShard(labels, source), () =>
    andThen(loadShard(SERVER_CHOICES, source), () => [describe(labels, place)]),
  )
}

/** Loads the shard of a name unless it is loaded or no snapshot exists. */
function loadShard(labels: Uint8Array, source: SnapshotSource): MaybePromise<unknown> {
  const here = source.current()
  const index = here?.shardOfName(labels, labels.length) ?? 0
  return here === undefined || here.shards[index] !== undefined ? undefined : source.load(index)
}

function describe(labels: Uint8Array, place: ExplainedPlace): Fact {
  const { zone } = place
  return {
    ...snapshotFact({ ...place, plugin: 'kubernetes', origin: zone.origin.bytes }),
    ...(!zone.isReverse && describeNode(labels, place)),
  }
}

/** A plugin's snapshot that may answer. */
export type ExplainedSnapshot = Pick<ExplainedPlace, 'source' | 'cluster' | 'visibility'> & {
  readonly plugin: string
  readonly origin: Uint8Array
  readonly tree: string
}

/**
 * Returns the facts about a plugin's snapshot, with what `nodeOf` finds there; without that if a
 * shard is unavailable.
 */
export function explainNode(
  place: ExplainedSnapshot,
  nodeOf: (snapshot: Snapshot) => Fact | null,
): MaybePromise<readonly Fact[]> {
  const { source } = place
  const snapshot = source.current()
  const explain = withShards(
    source,
    (found): readonly Fact[] => {
      const node = nodeOf(found)
      return [{ ...snapshotFact(place), node }]
    },
    () => [snapshotFact(place)],
  )
  return snapshot === undefined ? [snapshotFact(place)] : explain(snapshot)
}

/** Lists the types at a name, without those for private use. */
export function typesAt({ shard, node }: FoundName): readonly string[] {
  const types = shard.refs(node).map((ref) => shard.refType(ref))
  return types.filter((type) => type < PRIVATE_TYPES).map(formatType)
}

function snapshotFact(place: ExplainedSnapshot): Fact {
  const { plugin, origin, source, cluster, tree, visibility } = place
  const snapshot = source.current()
  const info = snapshot && infoFor(snapshot, visibility?.namespaces)
  return {
    plugin,
    zone: formatName(origin),
    ...(cluster !== undefined && { cluster }),
    tree,
    freshness: info === undefined ? 'missing' : source.freshness(visibility?.namespaces),
    generation: info?.generation ?? null,
    time: info === undefined ? null : new Date(info.timeMs).toISOString(),
  }
}

/** Returns whether the name exists, provided that its shard is loaded. */
function describeNode(
  labels: Uint8Array,
  { source, visibility, tree }: ExplainedPlace,
): { readonly node?: Fact | null } {
  const snapshot = source.current()
  const shard = snapshot?.shards[snapshot.shardOfName(labels, labels.length)]
  if (snapshot === undefined || shard === undefined) return {}
  const types = visibility?.namespaces && serverTypes(labels, snapshot, visibility.namespaces)
  if (types !== undefined) {
    const object = objectOf(formatName(concatBytes(labels, ROOT)), tree)
    return { node: { namespace: '', object, types, isImplied: equalBytes(labels, DNS) } }
  }
  const node = shard.findNode(labels, labels.length)
  if (node === 0 || shard.isGlue(node)) return { node: null }
  const namespaceId = shard.nodeNamespaceId(node)
  if (visibility?.namespaces?.has(shard, namespaceId) === false) return { node: null }
  const own = shard.refs(node).map((ref) => formatType(shard.refType(ref)))
  const namespace = shard.namespaces[namespaceId] ?? ''
  const object = objectOf(formatName(concatBytes(labels, ROOT)), tree)
  return { node: { namespace, object, types: own, isImplied: shard.isImplied(node) } }
}

/**
 * Returns the types at a name that depends on the name servers a client sees; `undefined` for other
 * names and for clients that see all name servers.
 */
function serverTypes(
  labels: Uint8Array,
  snapshot: Snapshot,
  namespaces: Visibility,
): readonly string[] | undefined {
  const isOne = [EMPTY, DNS, NS_DNS].some((name) => equalBytes(name, labels))
  const shard = snapshot.shards[snapshot.shardOfName(SERVER_CHOICES, SERVER_CHOICES.length)]
  if (!isOne || shard === undefined) return undefined
  const node = shard.findNode(SERVER_CHOICES, SERVER_CHOICES.length)
  const seen = seenServers(shard, node, namespaces)
  if (seen === undefined) return undefined
  if (labels.length === 0) return seen.targets.length > 0 ? ['NS'] : []
  const types = [
    ...seen.ipv4.slice(0, 1).map(() => 'A'),
    ...seen.ipv6.slice(0, 1).map(() => 'AAAA'),
  ]
  return equalBytes(labels, NS_DNS) ? types : []
}

/** Derives the object that publishes a relative name (with its final dot) from the name itself. */
function objectOf(name: string, tree: ExplainedPlace['tree']): string | null {
  const [, branch, namespace, service, endpoint] = name.split('.').reverse()
  if (namespace === undefined) return null
  if (service === undefined) return `Namespace ${namespace}`
  if (branch === 'pod') return `Pod at ${service} in ${namespace}`
  const object = `${KINDS[tree]} ${namespace}/${service}`
  const isEndpoint = endpoint !== undefined && !endpoint.startsWith('_')
  return isEndpoint ? `EndpointSlices of ${object}` : object
}
