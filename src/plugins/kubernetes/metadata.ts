/**
 * What the cluster says of a query, under CoreDNS's labels (plugin/kubernetes/metadata.go,
 * parse.go): who asks, and what the parts of the name are. Not there: `cluster`, which CoreDNS
 * never sets, and at a gateway who asks.
 * @module
 */

import type { Client } from '../../chain/client.ts'
import type { SnapshotSource } from '../../chain/host.ts'
import type { ClientQuery } from '../../chain/request.ts'
import { nameText } from '../../dns/name-text.ts'
import type { Query } from '../../dns/query.ts'
import { type Zones, zoneOf } from './zone.ts'

/** What labels are looked up in. */
export type LabelSource = {
  readonly zones: Zones
  readonly source: SnapshotSource
  /** Whether names may be for an availability zone. */
  readonly isZonal: boolean
}

const PREFIX = 'kubernetes/'
const CLIENT = `${PREFIX}client-`
const PARSE_ERROR = `${PREFIX}parse-error`
const NOT_A_NAME: ReadonlyMap<string, string> = new Map([[PARSE_ERROR, 'invalid query name']])

/** Finds what a label says; `undefined` for nothing, '' for a part that a name does not have. */
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

/** What is said of the Pod that asks; nothing of clients elsewhere. */
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

/** The labels of a query's name that are below an origin, as text. */
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

/** Parts of a name that has none of them are ''. */
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

/** The zone in `ZONE.pin|prefer._zone`, which may have dots; `undefined` where it is none. */
function zoneLabel(rest: readonly string[], kind: string, isZonal: boolean): string | undefined {
  const [anchor, directive, ...zone] = rest
  const isNamed = directive === 'pin' || directive === 'prefer'
  if (!isZonal || kind !== 'svc' || anchor !== '_zone' || !isNamed) return undefined
  return zone.toReversed().join('.')
}
