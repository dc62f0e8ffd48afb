/**
 * What explanations say of names: their labels, the objects that publish them, and why they have no
 * records.
 * @module
 */
import { concatBytes } from '../../../../dns/bytes/bytes.ts'
import { formatLabel, labelOffsets, ROOT } from '../../../../dns/names/name.ts'
import type { NodeFact, Reason } from '../../../contract/fact.ts'
import type { ExplainedPlace } from './explain-context.ts'

/** The kinds of objects whose names each tree holds. */
export const KINDS = {
  cluster: 'Service',
  multicluster: 'ServiceImport',
  exports: 'Service',
} as const

/** Returns the reason of a name that exists without records of a type. */
export function noType(node: NodeFact, type: string, isNxdomain = false): Reason {
  const { object, types, isImplied } = node
  const subject = object ?? 'the name'
  const known = types.length === 0 ? 'no records' : `${types.join(' and ')}, no ${type}`
  const what = isImplied
    ? 'the name exists only because of names below it'
    : `${subject} has ${known}`
  const text = isNxdomain ? `${what}; CoreDNS answers NXDOMAIN here, and so does kubedoh` : what
  return { code: isImplied ? 'empty_name' : 'wrong_type', text, missing: type, didYouMean: [] }
}

/** Derives the object that publishes a name from the name's labels below the zone. */
export function objectOf(labels: readonly string[], tree: ExplainedPlace['tree']): string | null {
  const [branch, namespace, service, endpoint] = labels.toReversed()
  if (namespace === undefined || (branch !== 'svc' && branch !== 'pod')) return null
  if (service === undefined) return `Namespace ${namespace}`
  if (branch === 'pod') return `Pod at ${service} in ${namespace}`
  const object = `${KINDS[tree]} ${namespace}/${service}`
  const isEndpoint = endpoint !== undefined && !endpoint.startsWith('_')
  return isEndpoint ? `EndpointSlices of ${object}` : object
}

/** Returns the labels of a relative name, escaped as in zone files. */
export function textLabels(labels: Uint8Array): readonly string[] {
  const wire = concatBytes(labels, ROOT)
  return labelOffsets(wire).map((at) => formatLabel(wire, at))
}
