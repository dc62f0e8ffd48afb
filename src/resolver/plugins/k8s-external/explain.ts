/**
 * Explains the external name of a Service for people. Reports a hidden name as one that does not
 * exist.
 * @module
 */

import { formatType } from '../../../dns/names/rr-type.ts'
import type { Query } from '../../../dns/wire/query.ts'
import { findName } from '../../../snapshot/read/find-name.ts'
import type { Fact, Reason } from '../../contract/fact.ts'
import type { MaybePromise } from '../../contract/maybe-promise.ts'
import { type ExplainedSnapshot, explainSnapshot } from '../kubernetes/explain/explain.ts'
import { typesAt } from '../kubernetes/explain/explain-forward.ts'
import { noType, textLabels } from '../kubernetes/explain/explained-names.ts'
import { findExternalService } from './service-reply.ts'

/** Returns the facts about a query; without the name if a shard is unavailable. */
export function explainService(
  query: Query,
  place: Omit<ExplainedSnapshot, 'plugin' | 'tree'>,
): MaybePromise<readonly Fact[]> {
  const { origin, visibility } = place
  const namespaces = visibility?.namespaces
  const labels = query.name.slice(0, query.nameBytes - origin.length)
  const fromTree = { ...place, plugin: 'k8s_external', tree: 'external' }
  return explainSnapshot(query, fromTree, (snapshot) => {
    const found =
      labels.length === 0
        ? findName(snapshot, labels)
        : findExternalService({ snapshot, namespaces }, labels)
    if (found === undefined) return { node: null, reason: noService(labels) }
    const { shard, node } = found
    const namespace = shard.namespaces[shard.nodeNamespaceId(node)] ?? ''
    const [object, types, rule] = [objectOf(labels), typesAt(found), 'external address']
    const described = { namespace, object, rule, types, isImplied: false }
    const type = formatType(query.type)
    const hasData = labels.length === 0 || [type, 'CNAME'].some((one) => types.includes(one))
    return hasData ? { node: described } : { node: described, reason: noType(described, type) }
  })
}

function noService(labels: Uint8Array): Reason {
  const object = objectOf(labels) ?? 'the zone'
  const text = `${object} does not exist, or has no external address`
  return { code: 'no_service', text, missing: textLabels(labels)[0] ?? null, didYouMean: [] }
}

/** Derives the object that publishes a relative name from the name itself. */
function objectOf(labels: Uint8Array): string | null {
  const [namespace, service] = textLabels(labels).toReversed()
  if (namespace === undefined) return null
  return service === undefined ? `Namespace ${namespace}` : `Service ${namespace}/${service}`
}
