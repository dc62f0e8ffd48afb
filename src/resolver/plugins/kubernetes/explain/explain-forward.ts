/**
 * Explains a forward name: the node that a snapshot has for it and the object that publishes it, or
 * which part of the name is missing.
 * @module
 */

import { EMPTY, equalBytes } from '../../../../dns/bytes/bytes.ts'
import { formatType, TYPE } from '../../../../dns/names/rr-type.ts'
import { type FoundName, isSeen, MissingShardError } from '../../../../snapshot/read/find-name.ts'
import type { Shard } from '../../../../snapshot/read/shard.ts'
import type { Snapshot } from '../../../../snapshot/read/snapshot.ts'
import { NS_DNS, SERVER_CHOICES } from '../../../../snapshot/records/server-choice.ts'
import type { NodeFact } from '../../../contract/fact.ts'
import { isNxdomain } from '../nxdomain-rules.ts'
import { seenServers } from '../server-answer.ts'
import type { ExplainContext, Found } from './explain-context.ts'
import { explainMissing } from './explain-missing.ts'
import { noType, objectOf, textLabels } from './explained-names.ts'

/** The labels of `ns.dns` without `ns`. */
const DNS = NS_DNS.subarray(3)
/** The first type for private use (RFC 6895 §3.1). */
const PRIVATE_TYPES = 0xff00
const { ANY, CNAME, SOA, SRV } = TYPE

/**
 * Explains the name with these labels, in lower case.
 * @throws {MissingShardError} if a shard is not loaded
 */
export function explainForward(labels: Uint8Array, type: number, context: ExplainContext): Found {
  const servers = serverTypes(labels, context)
  const found = findSeen(labels, context)
  if (found === undefined && servers === undefined) {
    return explainMissing(labels, { type, context, find: (name) => findSeen(name, context) })
  }
  const name = textLabels(labels)
  const types = servers ?? typesAt(found)
  const namespace = found?.shard.namespaces[found.shard.nodeNamespaceId(found.node)] ?? ''
  const isImplied =
    servers === undefined ? found?.shard.isImplied(found.node) === true : equalBytes(labels, DNS)
  const rule = ruleOf(name, found)
  const node: NodeFact = { namespace, object: objectOf(name, context.tree), rule, types, isImplied }
  const typeName = formatType(type)
  const hasData = types.includes(typeName) || types.includes('CNAME') || type === ANY
  if (hasData || (type === SOA && name.length === 0)) return { node }
  const isAbsent = isImplied || (found !== undefined && isDenied(type, found))
  return { node, reason: noType(node, typeName, isAbsent && context.rules === 'coredns') }
}

function isDenied(type: number, { shard, node }: FoundName): boolean {
  return type !== SOA && isNxdomain(type, shard, node, shard.nodeHead(node))
}

/** Lists the types at a name, without those for private use. */
export function typesAt(found: FoundName | undefined): readonly string[] {
  if (found === undefined) return []
  const { shard, node } = found
  const types = shard.refs(node).map((ref) => shard.refType(ref))
  return types.filter((type) => type < PRIVATE_TYPES).map(formatType)
}

/** Returns the kind of a name: docs/explain.md lists them. */
function ruleOf(labels: readonly string[], found: FoundName | undefined): string {
  const [branch, namespace, service, next] = labels.toReversed()
  if (branch === undefined) return 'zone'
  if (branch !== 'svc' && branch !== 'pod') return labels[0] === 'ns' ? 'name server' : 'version'
  if (namespace === undefined) return 'zone'
  if (service === undefined) return 'namespace'
  if (branch === 'pod') return 'pod'
  if (next !== undefined) return next.startsWith('_') ? 'port' : 'endpoint'
  return found === undefined ? 'service' : serviceRule(found)
}

/** Returns the kind of a Service: an SRV record of one with a cluster IP names the Service. */
function serviceRule({ shard, node }: FoundName): string {
  if (shard.findSet(node, CNAME) !== 0) return 'ExternalName'
  const ref = shard.findSet(node, SRV)
  if (ref === 0) return 'service'
  return shard.targetNode(shard.refSet(ref), 0) === node ? 'cluster IP' : 'headless'
}

function findSeen(
  labels: Uint8Array,
  { snapshot, visibility }: ExplainContext,
): FoundName | undefined {
  const shard = shardOf(labels, snapshot)
  const node = shard.findNode(labels, labels.length)
  if (node === 0 || shard.isGlue(node)) return undefined
  const found = { shard, node }
  return isSeen(found, visibility?.namespaces) ? found : undefined
}

function shardOf(labels: Uint8Array, snapshot: Snapshot): Shard {
  const index = snapshot.shardOfName(labels, labels.length)
  const shard = snapshot.shards[index]
  if (shard === undefined) throw new MissingShardError(index)
  return shard
}

/**
 * Returns the types at a name that depends on the name servers a client sees; `undefined` for other
 * names and for clients that see all name servers.
 */
function serverTypes(
  labels: Uint8Array,
  { snapshot, visibility }: ExplainContext,
): readonly string[] | undefined {
  const namespaces = visibility?.namespaces
  const isOne = [EMPTY, DNS, NS_DNS].some((name) => equalBytes(name, labels))
  if (!isOne || namespaces === undefined) return undefined
  const shard = shardOf(SERVER_CHOICES, snapshot)
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
