/**
 * Explains a hostname for people: the object that it belongs to, and the rivals that claim it, too.
 * Reports a hidden name as one that does not exist.
 * @module
 */
import type { MaybePromise } from '../../chain/maybe-promise.ts'
import type { Fact } from '../../chain/plugin.ts'
import { ROOT } from '../../dns/name.ts'
import type { Query } from '../../dns/query.ts'
import { CLAIMS_TYPE, readClaim } from '../../records/host-claims.ts'
import { type FoundName, recordsOf } from '../../snapshot/read/find-name.ts'
import { type ExplainedSnapshot, explainNode, typesAt } from '../kubernetes/explain.ts'
import { findClaims } from './host-reply.ts'

const AS = { owner: ROOT, origin: ROOT }

/** Returns the facts about a query; without the name if a shard is unavailable. */
export function explainHost(
  query: Query,
  place: Omit<ExplainedSnapshot, 'plugin' | 'tree'>,
): MaybePromise<readonly Fact[]> {
  const { origin: zone, visibility } = place
  const name = query.name.slice(0, query.nameBytes)
  return explainNode({ ...place, plugin: 'k8s_gateway', tree: 'hosts' }, (snapshot) => {
    const claims = [...findClaims({ snapshot, zone, namespaces: visibility?.namespaces }, name)]
    return describeHost(claims)
  })
}

function describeHost(claims: readonly FoundName[]): Fact | null {
  const [found] = claims
  if (found === undefined) return null
  const { shard, node } = found
  const objects = claims.flatMap((claim) => recordsOf(claim, CLAIMS_TYPE, AS))
  const [object = '', ...rivals] = objects.map(({ rdata }) => readClaim(rdata))
  return {
    namespace: shard.namespaces[shard.nodeNamespaceId(node)] ?? '',
    object,
    types: typesAt(found),
    isImplied: false,
    ...(rivals.length > 0 && { rivals }),
  }
}
