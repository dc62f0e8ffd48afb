/**
 * `kubedoh conflicts`: where clusters that have zones together contradict each other.
 * @module
 */
import { recordOf } from '../bytes/unknown.ts'
import type { Output } from '../node/output.ts'
import { formatColumns } from './columns.ts'
import type { Input } from './flags.ts'
import { callGateway } from './operator-call.ts'

/** The gateway's words for why somebody's word is answered. */
const REASONS: ReadonlyMap<unknown, string> = new Map([
  ['fresh', 'a cluster that is old has no part while others are fresh'],
  ['type', 'an address comes before endpoints'],
  ['order', 'of several addresses the first cluster’s counts, in the order of the directive'],
  ['endpoints', 'endpoints are those of all, each with its own ports'],
])

/** Prints the Services that clusters have differently, and whose word is answered. */
export async function runConflicts(input: Input, output: Output): Promise<void> {
  const text = await callGateway(input, 'GET', '/v1/conflicts')
  if (input.isSet('json')) {
    output.stdout.write(text)
    return
  }
  const groups = listOf(recordOf(JSON.parse(text)).groups)
  if (groups.length === 0) output.stdout.write('no zone is of several clusters together\n')
  for (const group of groups) output.stdout.write(formatGroup(group))
}

function formatGroup(group: Readonly<Record<string, unknown>>): string {
  const clusters = listOf(group.clusters).map(
    ({ cluster, freshness }) => `${cluster}${freshness === 'fresh' ? '' : ` (${freshness})`}`,
  )
  const zones = Array.isArray(group.zones) ? group.zones.join(' ') : ''
  const head = `${zones}: ${clusters.join(', ')}\n`
  const rest = group.isWhole === true ? '' : 'there may be more: not all could be read\n'
  const conflicts = listOf(group.conflicts)
  if (conflicts.length === 0) return `${head}no conflicts\n${rest}`
  const rows = conflicts.flatMap((conflict) =>
    listOf(conflict.clusters).map(({ cluster, type, ports, wins }, i) => [
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

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.map(recordOf) : []
}
