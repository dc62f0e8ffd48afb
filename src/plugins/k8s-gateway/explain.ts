/**
 * Explains a hostname for people: the objects that claim it. Reports a hidden name as one that does
 * not exist.
 * @module
 */
import type { MaybePromise } from '../../chain/maybe-promise.ts'
import type { Fact } from '../../chain/plugin.ts'
import { ROOT } from '../../dns/name.ts'
import type { Query } from '../../dns/query.ts'
import { CLAIMS_TYPE, readClaim } from '../../records/host-claims.ts'
import { type FoundName, recordsOf } from '../../snapshot/read/find-name.ts'
import { type ExplainedSnapshot, explainNode, typesAt } from '../kubernetes/explain.ts'
import { findHost } from './host-reply.ts'

/** Returns the facts about a query; without the name if a shard is unavailable. */
export function explainHost(
  query: Query,
  place: Omit<ExplainedSnapshot, 'plugin' | 'tree'>,
): MaybePromise<readonly Fact[]> {
  const { origin: zone, visibility } = place
  const name = query.name.slice(0, query.nameBytes)
  return explainNode({ ...place, plugin: 'k8s_gateway', tree: 'hosts' }, (snapshot) => {
    const found = findHost({ snapshot, zone, namespaces: visibility?.namespaces }, name)
    return found === undefined ? null : describeHost(found)
  })
}

function describeHost(found: FoundName): Fact {
  const { shard, node } = found
  const claims = recordsOf(found, CLAIMS_TYPE, { owner: ROOT, origin: ROOT })
  const [object = '', ...rivals] = claims.map(({ rdata }) => readClaim(rdata))
  return {
    namespace: shard.namespaces[shard.nodeNamespaceId(node)] ?? '',
    object,
    types: typesAt(found),
    isImplied: false,
    ...(rivals.length > 0 && { rivals }),
  }
}
