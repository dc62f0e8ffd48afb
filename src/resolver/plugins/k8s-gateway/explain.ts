/**
 * Explains a hostname for people: the object that it belongs to, and the rivals that claim it, too.
 * Reports a hidden name as one that does not exist.
 * @module
 */

import { formatName, ROOT } from '../../../dns/names/name.ts'
import { formatType } from '../../../dns/names/rr-type.ts'
import type { Query } from '../../../dns/wire/query.ts'
import { type FoundName, recordsOf } from '../../../snapshot/read/find-name.ts'
import { CLAIMS_TYPE, readClaim } from '../../../snapshot/records/host-claims.ts'
import type { Fact, NodeFact, Reason } from '../../contract/fact.ts'
import type { MaybePromise } from '../../contract/maybe-promise.ts'
import { type ExplainedSnapshot, explainSnapshot } from '../kubernetes/explain/explain.ts'
import { typesAt } from '../kubernetes/explain/explain-forward.ts'
import { noType } from '../kubernetes/explain/explained-names.ts'
import { type FindPlace, findClaims, hasHostBelow } from './find-host.ts'

const AS = { owner: ROOT, origin: ROOT }

/** Returns the facts about a query; without the name if a shard is unavailable. */
export function explainHost(
  query: Query,
  place: Omit<ExplainedSnapshot, 'plugin' | 'tree'>,
): MaybePromise<readonly Fact[]> {
  const { origin: zone, visibility } = place
  const name = query.name.slice(0, query.nameBytes)
  return explainSnapshot(query, { ...place, plugin: 'k8s_gateway', tree: 'hosts' }, (snapshot) => {
    const from: FindPlace = { snapshot, zone, namespaces: visibility?.namespaces }
    const node = describeHost([...findClaims(from, name)])
    if (node === undefined)
      return { node: null, reason: noHost(formatName(name), hasHostBelow(from, name)) }
    const type = formatType(query.type)
    const hasData = [type, 'CNAME'].some((one) => node.types.includes(one))
    return hasData ? { node } : { node, reason: noType(node, type) }
  })
}

function noHost(host: string, isAbove: boolean): Reason {
  const below = isAbove ? '; it exists because of hostnames below it' : ''
  const text = `no object that the Corefile's k8s_gateway reads has the hostname ${host}${below}`
  return { code: 'no_host', text, missing: host, didYouMean: [] }
}

function describeHost(claims: readonly FoundName[]): NodeFact | undefined {
  const [found] = claims
  if (found === undefined) return undefined
  const { shard, node } = found
  const objects = claims.flatMap((claim) => recordsOf(claim, CLAIMS_TYPE, AS))
  const [object = '', ...rivals] = objects.map(({ rdata }) => readClaim(rdata))
  return {
    namespace: shard.namespaces[shard.nodeNamespaceId(node)] ?? '',
    object,
    rule: 'hostname',
    types: typesAt(found),
    isImplied: false,
    ...(rivals.length > 0 && { rivals }),
  }
}
