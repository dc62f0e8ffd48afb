/**
 * `kubedoh conflicts`: Services on which clusters that share a zone disagree, and hostnames that
 * several namespaces of a cluster claim.
 * @module
 */
import { listOf, recordOf } from '../../dns/bytes/unknown.ts'
import type { Output } from '../../server/node/output.ts'
import type { Input } from '../flags/flags.ts'
import { callGateway, formatColumns, printResponse } from '../flags/operator-call.ts'

/** Explanations of the gateway's reasons for choosing a cluster or an object. */
const REASONS: ReadonlyMap<unknown, string> = new Map([
  ['fresh', 'stale clusters are ignored while another one is fresh'],
  ['type', 'a cluster IP wins over endpoints'],
  ['order', 'the first cluster in the directive with a cluster IP wins'],
  ['endpoints', 'endpoints of all clusters are merged, each with its own ports'],
  ['kind', 'the first kind in "resources" of the exporter wins'],
  ['age', 'the oldest object wins'],
])

/** Prints the Services and hostnames with several claims, and which claim is answered. */
export async function runConflicts(input: Input, output: Output): Promise<void> {
  const text = await callGateway(input, 'GET', '/v1/conflicts')
  printResponse(input, output, [text, formatConflicts])
}

function formatConflicts(value: unknown): string {
  const { groups, hosts } = recordOf(value)
  const parts = [
    ...listOf(groups).map((group) => formatPart(recordOf(group), serviceTable)),
    ...listOf(hosts).map((part) => formatPart(recordOf(part), hostTable)),
  ]
  return parts.length === 0 ? 'no clusters share a zone\n' : parts.join('')
}

type Fields = Readonly<Record<string, unknown>>
type Table = (conflicts: readonly Fields[]) => readonly (readonly string[])[]

/** Formats the conflicts of some zones, with the clusters that these are read from. */
function formatPart(part: Fields, table: Table): string {
  const clusters = (part.clusters === undefined ? [part] : listOf(part.clusters))
    .map(recordOf)
    .map(({ cluster, freshness }) => `${cluster}${freshness === 'fresh' ? '' : ` (${freshness})`}`)
  const head = `${joinList(part.zones, ' ')}: ${clusters.join(', ')}\n`
  const rest = part.isWhole === true ? '' : 'incomplete: some clusters could not be read\n'
  const conflicts = listOf(part.conflicts).map(recordOf)
  if (conflicts.length === 0) return `${head}no conflicts\n${rest}`
  return `${head}${formatColumns(table(conflicts))}${rest}`
}

function serviceTable(conflicts: readonly Fields[]): readonly (readonly string[])[] {
  const rows = conflicts.flatMap((conflict) =>
    listOf(conflict.clusters)
      .map(recordOf)
      .map(({ cluster, type, ports, wins }, i) => [
        i === 0 ? `${conflict.service}.${conflict.namespace}` : '',
        i === 0 ? String(conflict.conflict) : '',
        `${cluster}`,
        `${type}`,
        joinList(ports, ','),
        wins === true ? 'answers' : '',
        i === 0 ? reasonOf(conflict) : '',
      ]),
  )
  return [['SERVICE', 'CONFLICT', 'CLUSTER', 'TYPE', 'PORTS', '', 'WHY'], ...rows]
}

function hostTable(conflicts: readonly Fields[]): readonly (readonly string[])[] {
  const rows = conflicts.flatMap((conflict) =>
    listOf(conflict.claims)
      .map(recordOf)
      .map(({ namespace, objects, wins }, i) => [
        i === 0 ? `${conflict.host}` : '',
        namespace === '' ? '-' : `${namespace}`,
        joinList(objects, ', '),
        wins === true ? 'answers' : '',
        i === 0 ? reasonOf(conflict) : '',
      ]),
  )
  return [['HOST', 'NAMESPACE', 'OBJECTS', '', 'WHY'], ...rows]
}

function reasonOf({ reason }: Fields): string {
  return REASONS.get(reason) ?? String(reason)
}

function joinList(value: unknown, separator: string): string {
  return Array.isArray(value) ? value.join(separator) : ''
}
