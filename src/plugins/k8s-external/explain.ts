/**
 * Explains the external name of a Service for people. Reports a hidden name as one that does not
 * exist.
 * @module
 */
import { concatBytes } from '../../bytes/bytes.ts'
import type { MaybePromise } from '../../chain/maybe-promise.ts'
import type { Fact } from '../../chain/plugin.ts'
import { formatName, ROOT } from '../../dns/name.ts'
import type { Query } from '../../dns/query.ts'
import { findName } from '../../snapshot/read/find-name.ts'
import { type ExplainedSnapshot, explainNode, typesAt } from '../kubernetes/explain.ts'
import { findService } from './service-reply.ts'

/** Returns the facts about a query; without the name if a shard is unavailable. */
export function explainService(
  query: Query,
  place: Omit<ExplainedSnapshot, 'plugin' | 'tree'>,
): MaybePromise<readonly Fact[]> {
  const { origin, visibility } = place
  const namespaces = visibility?.namespaces
  const labels = query.name.slice(0, query.nameBytes - origin.length)
  return explainNode({ ...place, plugin: 'k8s_external', tree: 'external' }, (snapshot) => {
    const found =
      labels.length === 0
        ? findName(snapshot, labels)
        : findService({ snapshot, namespaces }, labels)
    if (found === undefined) return null
    const { shard, node } = found
    const namespace = shard.namespaces[shard.nodeNamespaceId(node)] ?? ''
    return { namespace, object: objectOf(labels), types: typesAt(found), isImplied: false }
  })
}

/** Derives the object that publishes a relative name from the name itself. */
function objectOf(labels: Uint8Array): string | null {
  const [, namespace, service] = formatName(concatBytes(labels, ROOT)).split('.').reverse()
  if (namespace === undefined || labels.length === 0) return null
  return service === undefined ? `Namespace ${namespace}` : `Service ${namespace}/${service}`
}
