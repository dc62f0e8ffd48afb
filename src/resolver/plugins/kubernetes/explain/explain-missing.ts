/**
 * Finds out which part of a forward name is missing: the first one from the right.
 * @module
 */

import { concatBytes } from '../../../../dns/bytes/bytes.ts'
import { parseAddressLabel } from '../../../../dns/names/address-label.ts'
import { formatName, labelOffsets, ROOT } from '../../../../dns/names/name.ts'
import { formatType, TYPE } from '../../../../dns/names/rr-type.ts'
import type { FoundName } from '../../../../snapshot/read/find-name.ts'
import type { Reason } from '../../../contract/fact.ts'
import type { ServiceState } from '../../../contract/host.ts'
import type { ExplainContext, Found } from './explain-context.ts'
import { KINDS, noType, objectOf, textLabels } from './explained-names.ts'

/** The query type, the snapshot, and a look-up of relative names that the client sees. */
export type MissingName = {
  readonly type: number
  readonly context: ExplainContext
  readonly find: (labels: Uint8Array) => FoundName | undefined
}

/** The label `svc`. */
const SVC = Uint8Array.of(3, 0x73, 0x76, 0x63)
/** Ports or endpoints that a reason lists. */
const LISTED_MAX = 3

/** Explains why a name does not exist; a Pod's name may exist without a node. */
export function explainMissing(labels: Uint8Array, how: MissingName): Found {
  const { context, find } = how
  const name = textLabels(labels)
  const [branch = '', namespace, , ...before] = name.toReversed()
  const tail = tailsOf(labels)
  // Clusters do not share Pods.
  const branches = context.tree === 'cluster' ? ['svc', 'pod'] : ['svc']
  if (!branches.includes(branch)) {
    const ends = branches.map((one) => `${one}.${formatName(context.zone.origin.bytes)}`)
    return why('no_branch', `names of objects end in ${ends.join(' or ')}`, branch)
  }
  const space = tail(2).slice(0, -SVC.length)
  if (find(concatBytes(space, SVC)) === undefined) {
    const unless = context.visibility?.namespaces === undefined ? '' : ' that this token sees'
    return why('no_namespace', `there is no namespace "${namespace}"${unless}`, namespace)
  }
  if (branch === 'pod') return explainPod(name, tail, how)
  if (find(tail(3)) === undefined) return explainService(name.slice(-3), context)
  const object = objectOf(name.slice(-3), context.tree)
  const [first = '', second] = before
  if (first.startsWith('_')) {
    const port = before.toReversed().join('.')
    const found = why('no_port', `${object} has no port ${port}`, port)
    return withPorts(found, tail(3), how)
  }
  if (second !== undefined) {
    return why('too_many_labels', `no name is that far below ${object}`, before.at(-1))
  }
  const isUnready = endpointNames(context.state, false).some(
    (one) => one.replace(/[.:]/g, '-') === first,
  )
  if (isUnready) return why('not_ready', `endpoint "${first}" of ${object} is not ready`, first)
  return why('no_endpoint', `${object} has no ready endpoint "${first}"`, first)
}

/** Explains a Service without a name: where the objects are, by its type and its endpoints. */
function explainService(labels: readonly string[], { tree, state }: ExplainContext): Found {
  const [service = '', namespace = ''] = labels
  const object = objectOf(labels, tree) ?? service
  const text = `namespace "${namespace}" has no ${KINDS[tree]} "${service}"`
  if (state === undefined || tree !== 'cluster') {
    return why('no_service', `${text}, or it is headless and has no ready endpoint`, service)
  }
  if (state === null) return why('no_service', text, service)
  if (state.service.type === 'ExternalName') {
    return why('no_hostname', `the externalName of ${object} is not a hostname`, service)
  }
  const unready = endpointNames(state, false)
  if (unready.length === 0) return why('no_endpoints', `${object} has no endpoints`, service)
  const listed = unready.slice(0, LISTED_MAX).join(', ')
  const more = unready.length > LISTED_MAX ? ` and ${unready.length - LISTED_MAX} more` : ''
  return why('not_ready', `no endpoint of ${object} is ready: ${listed}${more}`, service)
}

function endpointNames(
  state: ServiceState | null | undefined,
  isReady: boolean,
): readonly string[] {
  return (state?.endpoints ?? [])
    .filter((one) => one.isReady === isReady)
    .flatMap(({ hostname, addresses }) => (hostname === '' ? addresses : [hostname]))
}

function why(code: string, text: string, missing = ''): Found & { readonly reason: Reason } {
  const part = missing === '' ? null : missing
  return { node: null, reason: { code, text, missing: part, didYouMean: [] } }
}

/** Returns a function that returns the last `count` labels. */
function tailsOf(labels: Uint8Array): (count: number) => Uint8Array {
  const offsets = labelOffsets(concatBytes(labels, ROOT))
  return (count) => labels.subarray(offsets[offsets.length - count] ?? 0)
}

/** Explains a name below an existing namespace of Pods: it may spell its address. */
function explainPod(
  name: readonly string[],
  tail: (count: number) => Uint8Array,
  { type, find }: MissingName,
): Found {
  const [, namespace = '', label] = name.toReversed()
  const parent = find(tail(2))
  if (parent === undefined) return why('no_pods', 'the Corefile has "pods disabled"', 'pod')
  const { shard, node } = parent
  const address = new Uint8Array(16)
  const bytes = parseAddressLabel(tail(3), 0, address)
  if (label === undefined || bytes === 0 || !shard.hasAddressNames(node)) {
    const text = `no Pod that runs in namespace "${namespace}" has the address "${label}"`
    return why('no_pod', text, label)
  }
  const own = formatType(bytes === 4 ? TYPE.A : TYPE.AAAA)
  const object = `any Pod at ${label} in ${namespace}`
  const found = { namespace, object, rule: 'pod', types: [own], isImplied: false }
  const isKnown = formatType(type) === own || type === TYPE.SRV || type === TYPE.ANY
  return isKnown ? { node: found } : { node: found, reason: noType(found, formatType(type)) }
}

/** Adds the ports that a Service has: they are in its shard. */
function withPorts(
  found: Found & { readonly reason: Reason },
  service: Uint8Array,
  { context, find }: MissingName,
): Found {
  const shard = find(service)?.shard
  if (shard === undefined) return found
  const suffix = `.${textLabels(service).join('.')}`
  const ports: string[] = []
  for (const node of shard.nodes()) {
    const start = shard.nameOffset(node)
    const name = textLabels(shard.bytes.subarray(start, start + shard.nameBytes(node))).join('.')
    const isPort = name.startsWith('_') && name.endsWith(suffix) && !shard.isImplied(node)
    if (isPort) ports.push(`${name}.${formatName(context.zone.origin.bytes)}`)
  }
  return { ...found, reason: { ...found.reason, didYouMean: ports.sort().slice(0, LISTED_MAX) } }
}
