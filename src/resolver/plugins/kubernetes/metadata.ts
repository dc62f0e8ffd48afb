/**
 * Publishes the client's Pod and the parts of the query name under CoreDNS's labels
 * (plugin/kubernetes/metadata.go, parse.go). Omits `cluster`, which CoreDNS never sets, and at a
 * gateway the client's labels.
 * @module
 */

import { nameText } from '../../../dns/names/name-text.ts'
import type { Query } from '../../../dns/wire/query.ts'
import type { Client } from '../../contract/client.ts'
import type { SnapshotSource } from '../../contract/host.ts'
import type { ClientQuery } from '../../contract/request.ts'
import { type Zones, zoneOf } from './zone.ts'

/** Where labels are looked up. */
export type LabelSource = {
  readonly zones: Zones
  readonly source: SnapshotSource
  /** Whether names may select an availability zone. */
  readonly isZonal: boolean
}

const PREFIX = 'kubernetes/'
const CLIENT = `${PREFIX}client-`
const PARSE_ERROR = `${PREFIX}parse-error`
const NOT_A_NAME: ReadonlyMap<string, string> = new Map([[PARSE_ERROR, 'invalid query name']])

/** Returns the value of a label; `undefined` for none, '' for a part that the name lacks. */
export function clusterMetadata(
  label: string,
  { query, client }: ClientQuery,
  { zones, source, isZonal }: LabelSource,
): string | undefined {
  if (!label.startsWith(PREFIX)) return undefined
  if (label.startsWith(CLIENT)) return clientLabel(label.slice(CLIENT.length), source, client)
  const zone = zoneOf(zones, query)
  return zone && nameLabels(labelsBelow(query, zone.origin.bytes), isZonal).get(label)
}

/** Returns a label of the client's Pod; `undefined` for clients outside of the cluster. */
function clientLabel(
  label: string,
  { podAt }: SnapshotSource,
  { address, visibility }: Client,
): string | undefined {
  const pod = visibility === undefined ? podAt?.(address) : undefined
  if (label === 'namespace') return pod?.namespace
  if (label === 'pod-name') return pod?.name
  return label.startsWith('label/') ? pod?.labels.get(label.slice(6)) : undefined
}

/** Returns the labels of the query name below an origin, as text. */
function labelsBelow({ name, nameBytes, labels, labelCount }: Query, origin: Uint8Array): string[] {
  const below: string[] = []
  for (let i = 0; i < labelCount; i++) {
    const start = labels[i] ?? 0
    if (start >= nameBytes - origin.length) break
    const end = start + 1 + (name[start] ?? 0)
    below.push(nameText(Uint8Array.of(...name.subarray(start, end), 0)).slice(0, -1))
  }
  return below
}

/** Returns the parts of a name; '' for a missing part. */
function nameLabels(labels: readonly string[], isZonal: boolean): ReadonlyMap<string, string> {
  const [kind = '', namespace = '', service = '', ...rest] = labels.toReversed()
  const isShort = labels.length === 0 || (labels.length === 1 && (kind === 'svc' || kind === 'pod'))
  if (!isShort && kind !== 'svc' && kind !== 'pod') return NOT_A_NAME
  const [protocol = '', port = ''] = rest.length === 2 ? rest : []
  const zone = rest.length > 2 ? zoneLabel(rest, kind, isZonal) : ''
  if (zone === undefined) return NOT_A_NAME
  return new Map([
    [`${PREFIX}port-name`, port.replace(/^_/, '')],
    [`${PREFIX}protocol`, protocol.replace(/^_/, '')],
    [`${PREFIX}endpoint`, rest.length === 1 ? (rest[0] ?? '') : ''],
    ...(isZonal ? [[`${PREFIX}zone`, zone] as const] : []),
    [`${PREFIX}service`, service],
    [`${PREFIX}namespace`, namespace],
    [`${PREFIX}kind`, isShort ? '' : kind],
  ])
}

/** Returns the zone in `ZONE.pin|prefer._zone`, which may contain dots; else `undefined`. */
function zoneLabel(rest: readonly string[], kind: string, isZonal: boolean): string | undefined {
  const [anchor, directive, ...zone] = rest
  const isNamed = directive === 'pin' || directive === 'prefer'
  if (!isZonal || kind !== 'svc' || anchor !== '_zone' || !isNamed) return undefined
  return zone.toReversed().join('.')
}
