/**
 * `kubedoh conflicts`: Services on which clusters that share a zone disagree.
 * @module
 */
import { listOf, recordOf } from '../bytes/unknown.ts'
import type { Output } from '../node/output.ts'
import type { Input } from './flags.ts'
import { callGateway, formatColumns, printResponse } from './operator-call.ts'

/** Explanations of the gateway's reasons for choosing a cluster. */
const REASONS: ReadonlyMap<unknown, string> = new Map([
  ['fresh', 'stale clusters are ignored while another one is fresh'],
  ['type', 'a cluster IP wins over endpoints'],
  ['order', 'the first cluster in the directive with a cluster IP wins'],
  ['endpoints', 'endpoints of all clusters are merged, each with its own ports'],
])

/** Prints the Services on which clusters disagree, and which cluster answers. */
export async function runConflicts(input: Input, output: Output): Promise<void> {
  const text = await callGateway(input, 'GET', '/v1/conflicts')
  printResponse(input, output, [text, formatGroups])
}

function formatGroups(value: unknown): string {
  const groups = listOf(recordOf(value).groups).map(recordOf)
  return groups.length === 0 ? 'no clusters share a zone\n' : groups.map(formatGroup).join('')
}

function formatGroup(group: Readonly<Record<string, unknown>>): string {
  const clusters = listOf(group.clusters)
    .map(recordOf)
    .map(({ cluster, freshness }) => `${cluster}${freshness === 'fresh' ? '' : ` (${freshness})`}`)
  const zones = Array.isArray(group.zones) ? group.zones.join(' ') : ''
  const head = `${zones}: ${clusters.join(', ')}\n`
  const rest = group.isWhole === true ? '' : 'incomplete: some clusters could not be read\n'
  const conflicts = listOf(group.conflicts).map(recordOf)
  if (conflicts.length === 0) return `${head}no conflicts\n${rest}`
  const rows = conflicts.flatMap((conflict) =>
    listOf(conflict.clusters)
      .map(recordOf)
      .map(({ cluster, type, ports, wins }, i) => [
        i === 0 ? `${conflict.service}.${conflict.namespace}` : '',
        i === 0 ? String(conflict.conflict) : '',
        `${cluster}`,
        `${type}`,
        Array.isArray(ports) ? ports.join(',') : '',
        wins === true ? 'answers' : '',
        i === 0 ? (REASONS.get(conflict.reason) ?? String(conflict.reason)) : '',
      ]),
  )
  const names = ['SERVICE', 'CONFLICT', 'CLUSTER', 'TYPE', 'PORTS', '', 'WHY']
  return `${head}${formatColumns([names, ...rows])}${rest}`
}
